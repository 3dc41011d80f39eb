local a, b = 1, 2
a, b = b, a
print(a, b)
local x, y, z = (function() return 1, 2, 3 end)()
print(x, y, z)
x, y, z = z, y, x
print(x, y, z)
local t = {1, 2, 3}
local i = 1
i, t[i] = i + 1, 20
print(i, t[1], t[2])
local p, q = 1
print(p, q)
p, q = 5, 6, 7
print(p, q)
local function two() return "one", "two" end
local c, d, e = 0, two()
print(c, d, e)
c, d, e = two(), 9
print(c, d, e)
c, d = (two())
print(c, d)
local i, j = 10, 20
local i, j = j, i
print(i, j)
do local i = i + 1; print(i) end
t = {}
t.x, t.y = 1
print(t.x, t.y)
t.x, t.y = nil, 4
print(t.x, t.y)
g1, g2 = 1, 2
g1, g2 = g2, g1
print(g1, g2)
g1 = nil
print(g1)
local s = {n = {}}
s.n.a, s.n.b = two()
print(s.n.a, s.n.b)
local function f(...) local a, b = ... return a, b, select("#", ...) end
print(f(1, nil, nil))
local list = {}
list[#list + 1] = "a"
list[#list + 1] = "b"
list[#list + 1] = nil
print(#list, list[1], list[2])
local u = {}
u["k" .. 1], u["k" .. 2] = "v1", "v2"
print(u.k1, u.k2)
local function side(v) print("side", v) return v end
local o = {}
o[side("key")] = side("value")
print(o.key)
a = {} ; local b2 = a
a.x, a = 1, {}
print(b2.x, a.x)
