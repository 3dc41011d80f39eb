-- What piccolo 0.3.3 leaves in the registers of missing arguments, and its tail calls.
local function f(a, b, c) return a, b, c end
local x, y, z = 1, 2, 3
print(f(x)) print(f()) print(f(x, y)) print((f(9)))
local function g(p, q, r, s) return p, q, r, s end
local function tail() return g() end
print(tail())
local function tail1() return g(1) end
print(tail1())
local function va(a, ...) return a, select("#", ...), ... end
print(va()) print(va(1)) print(va(1, 2, 3)) print(va(1, nil, nil)) print((va(1, 2)))
local function va2(a, b, ...) local t = {...} local c, d = ... return #t, c, d, (...) end
print(va2(1, 2, 3, 4)) print(va2(1)) print(va2())
local function va3(a, ...) return ... end
print(va3(1, 2, 3), va3(1), va3(1, 5))
local function va4(a, ...) return va(...) end
print(va4(1, 2, 3)) print(va4(1))
local o = {} function o:m(a, b) return self == o, a, b end function o.n(a, ...) return a, ... end
print(o:m()) print(o:m(1)) print(o.n()) print(o.n(1, 2, 3)) print(o.m(o, 5))
local function opt(a, b) b = b or "default" return a, b end
print(opt(1)) print(opt(1, 2)) print(opt())
local function many(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10) return a10 end
local function small() return many(1) end
print(small(), many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10))
local function rec(n, acc) acc = acc or {} if n == 0 then return #acc end acc[#acc + 1] = n return rec(n - 1, acc) end
print(rec(100), rec(3))
print(select("#", (function(...) return ... end)(nil, nil)), (function(a, ...) return select("#", ...) end)(1, nil, nil))
print(pcall(function(a, b) return a, b end, 1)) print(xpcall(function(a, b, c) return a, b, c end, print, 1, 2))
print((function(a, b) a = a or 1 b = b or 2 return a + b end)())
for k, v in (function(t, i) return function(s, c, extra) if c < 2 then return c + 1, extra end end, t, 0 end)({}) do print(k, v) end
table.sort({3, 1, 2}, function(a, b, c) assert(c == nil) return a < b end)
print((("x"):gsub("x", function(a, b) return tostring(b) end)))
local mt = setmetatable({}, {__index = function(t, k, extra) return extra end, __call = function(self, a, b) return a, b end, __add = function(a, b, c) return tostring(c) end})
print(mt.x, mt(1), mt + 1)
local co = coroutine.wrap(function(a, b) local c, d = coroutine.yield(a, b) return c, d end)
print(co(1)) print(co())
