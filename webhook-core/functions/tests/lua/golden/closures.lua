local function counter()
  local n = 0
  return function() n = n + 1 return n end, function() return n end
end
local inc, get = counter()
inc() inc()
print(get())
local fs = {}
for i = 1, 3 do fs[i] = function() i = i + 10 return i end end
print(fs[1](), fs[1](), fs[2](), fs[3]())
fs = {}
local k = 1
while k <= 3 do local j = k; fs[k] = function() j = j + 1 return j end; k = k + 1 end
print(fs[1](), fs[1](), fs[2]())
fs = {}
local r = 0
repeat local m = r; fs[#fs + 1] = function() m = m + 1 return m end; r = r + 1 until m >= 2
print(#fs, fs[1](), fs[1](), fs[3]())
for _, v in ipairs({"a", "b"}) do fs[v] = function() v = v .. "!" return v end end
print(fs.a(), fs.a(), fs.b())
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print(fib(15))
local function sum(...) local s = 0 for _, v in ipairs({...}) do s = s + v end return s end
print(sum(1, 2, 3), sum())
print((function(...) return select("#", ...) end)(nil, nil, nil))
local function pass(...) return ... end
print(pass(1, 2, 3), (pass(4, 5)), pass())
print(#{pass(1, 2), pass(3, 4)})
local t = {pass(1, 2), n = 1}
print(#t)
local function tail(n) if n == 0 then return "done" end return tail(n - 1) end
print(tail(20000))
