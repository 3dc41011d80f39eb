local V = {}
V.__index = V
V.__add = function(a, b) return V.new((type(a) == "table" and a.x or a) + (type(b) == "table" and b.x or b)) end
V.__sub = function(a, b) return V.new(a.x - b.x) end
V.__mul = function(a, b) return "mul" end
V.__div = function() return "div" end
V.__mod = function() return "mod" end
V.__pow = function() return "pow" end
V.__unm = function(a) return V.new(-a.x) end
V.__idiv = function() return "idiv" end
V.__band = function() return "band" end
V.__bor = function() return "bor" end
V.__bxor = function() return "bxor" end
V.__shl = function() return "shl" end
V.__shr = function() return "shr" end
V.__bnot = function() return "bnot" end
V.__concat = function(a, b) return (type(a) == "table" and "V" .. a.x or a) .. "&" .. (type(b) == "table" and "V" .. b.x or b) end
V.__len = function(a) return a.x end
V.__eq = function(a, b) return a.x == b.x end
V.__lt = function(a, b) return a.x < b.x end
V.__le = function(a, b) return a.x <= b.x end
V.__call = function(self, a, b) return "called", a, b, self.x end
V.__tostring = function(a) return "V(" .. a.x .. ")" end
V.__name = "Vec"
function V.new(x) return setmetatable({x = x}, V) end
function V:get() return self.x end
local a, b = V.new(1), V.new(2)
print((a + b).x, (a + 5).x, (5 + a).x, (b - a).x, a * b, a / b, a % b, a ^ b, (-a).x, a // b)
print(a & b, a | b, a ~ b, a << b, a >> b, ~a, 1 & a, a | 1)
print(a .. b, a .. "s", "s" .. a, 1 .. a, a .. b .. "end", "x" .. "y" .. a)
print(#a, a == b, a == V.new(1), a ~= b, a < b, a <= b, a > b, a >= b)
print(a("x", "y"))
print(tostring(a), a:get(), a.nope)
print(rawequal(a, V.new(1)), rawlen({1, 2}), rawget(a, "get"), rawlen("abc"))
local log = {}
local p = setmetatable({}, {
  __index = function(t, k) log[#log + 1] = "get " .. tostring(k) return k .. "!" end,
  __newindex = function(t, k, v) log[#log + 1] = "set " .. tostring(k); rawset(t, k, v) end,
})
print(p.foo, p.bar)
p.x = 1
p.x = 2
p.y = nil
print(table.concat(log, ";"))
local base = {hello = function(self) return "hello " .. self.name end}
local mid = setmetatable({}, {__index = base})
local obj = setmetatable({name = "o"}, {__index = mid})
print(obj:hello(), obj.none)
local ro = setmetatable({}, {__newindex = function() error("read only", 2) end})
print((pcall(function() ro.x = 1 end)))
local target = {}
local redirect = setmetatable({}, {__newindex = target, __index = target})
redirect.a = 5
print(target.a, rawget(redirect, "a"), redirect.a)
print(getmetatable("").__index == string, getmetatable({}), getmetatable(setmetatable({}, {__metatable = "locked"})))
print(pcall(setmetatable, setmetatable({}, {__metatable = 1}), {}))
local d = setmetatable({}, {__index = function(t, k) local v = k * 2; rawset(t, k, v) return v end})
print(d[2], rawget(d, 2))
local callable = setmetatable({}, {__call = function(self, ...) return select("#", ...) end})
print(callable(1, nil, 3), pcall(callable, 1))
local multi = setmetatable({}, {__add = function() return 1, 2, 3 end, __index = function() return 4, 5 end})
print(multi + 1, (multi + 1), multi.x)
local cmp = setmetatable({}, {__lt = function() return nil end, __le = function() return 1 end})
print(cmp < cmp, cmp <= cmp, cmp > cmp, not (cmp < cmp))
local Animal = {} Animal.__index = Animal
function Animal.new(n) return setmetatable({name = n}, Animal) end
function Animal:speak() return self.name .. " makes a sound" end
local Dog = setmetatable({}, {__index = Animal}) Dog.__index = Dog
function Dog.new(n) local d = Animal.new(n) return setmetatable(d, Dog) end
function Dog:speak() return Animal.speak(self) .. ": woof" end
print(Dog.new("Rex"):speak(), Animal.new("Cat"):speak())
local t1 = setmetatable({}, {__eq = function() return true end})
local t2 = {}
print(t1 == t2, t2 == t1, t1 ~= t2, t1 == 1)
print(tostring(setmetatable({}, {__name = "My"})):match("^My: ") ~= nil)
for k, v in ipairs(setmetatable({}, {__index = function(_, i) if i <= 3 then return i * i end end})) do print(k, v) end
