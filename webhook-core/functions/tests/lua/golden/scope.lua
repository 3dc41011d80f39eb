local x = 1
do local x = 2 print(x) do local x = x + 1 print(x) end print(x) end
print(x)
local function f(x) x = x * 2 return x end
print(f(5), x)
function g() return x end
x = 10 print(g())
local t = {}
function t.a() return "a" end
function t:b() return self == t end
t.c = {d = {}} function t.c.d.e(...) return ... end function t.c.d:m(y) return self == t.c.d, y end
print(t.a(), t:b(), t.c.d.e(1, 2), t.c.d:m("y"))
local function rec(n) return n == 0 and "base" or rec(n - 1) end print(rec(5))
local mutual_b local function mutual_a(n) if n == 0 then return "a" end return mutual_b(n - 1) end
function mutual_b(n) if n == 0 then return "b" end return mutual_a(n - 1) end
print(mutual_a(3), mutual_a(4))
_G.dyn = "global" print(dyn, _G["dyn"], rawget(_G, "nothing"), _G._G == _G, _VERSION ~= nil)

local a, b, c = ... print(a, b, c, select("#", ...))
if nil then print("no") elseif false then print("no") elseif 0 then print("zero is true") else print("no") end
if "" then print("empty is true") end
local function va(...) local t = {...} local n = select("#", ...) return n, #t, (...) end print(va("p", "q"))
local function opt(a, b) b = b or "default" return a, b end print(opt(1), (opt(1, 2)))
print(type(print), type(nil), type({}), type("x"), type(2), type(true), type(function() end), type(coroutine.create(print)))
local s = "method" print(s:upper(), ("lit"):upper(), #s, s:sub(1, 3):rep(2))
local r = (function() return 1, 2 end)() print(r)
print(((function() return 1, 2 end)()))
local n1 = nil print(n1 == nil, not n1)
local long = 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 print(long)
;;; local semi = 1; print(semi)
local str = "a" .. "b" .. "c" .. "d" .. 1 .. 2 print(str)
return
