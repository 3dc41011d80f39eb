local t = {1, 2, 3}
table.insert(t, 4) table.insert(t, 1, 0)
print(table.concat(t, ","), #t)
print(table.remove(t), table.remove(t, 1), table.concat(t, ","), table.remove({}), table.remove(t, #t + 1))
print(table.concat({}, ","), table.concat({1, 2.5, "x"}, "-"), table.concat({1, 2, 3}, ",", 2), table.concat({1, 2, 3}, ",", 2, 2), table.concat({1,2,3}, ", ", 3, 2))
print(table.unpack({1, 2, 3})) print(table.unpack({1, 2, 3}, 2)) print(table.unpack({1, 2, 3}, 2, 5))
local p = table.pack(1, nil, 3) print(p.n, p[1], p[2], p[3])
print(table.concat(table.move({1, 2, 3}, 1, 3, 2), ","), table.concat(table.move({1, 2, 3}, 2, 3, 1), ","), #table.move({1,2,3}, 1, 3, 1, {}))
print(select("#", table.unpack({}, 1, 3)), select(2, "a", "b", "c"), select(-1, "a", "b"))
print(#{1, 2, 3, nil}, #{n = 1}, #{[1] = 1, [2] = 2}, #"", next({}), type(next))
local s = {}
for i = 1, 100 do s["k" .. i] = i s["k" .. i] = nil end
print(next(s))
for i = 1, 50 do s["a" .. i] = i end
for i = 1, 50, 2 do s["a" .. i] = nil end
for i = 51, 120 do s["a" .. i] = i end
local n = 0 for k, v in pairs(s) do n = n + 1 end print(n)
local set = {}
for i = 1, 20 do local k = {} set[k] = true if i % 2 == 0 then set[k] = nil end end
n = 0 for _ in pairs(set) do n = n + 1 end print(n)
local q = {first = 1, last = 0}
local function push(v) q.last = q.last + 1 q[q.last] = v end
local function pop() local v = q[q.first] q[q.first] = nil q.first = q.first + 1 return v end
for i = 1, 50 do push(i) end
local sum = 0 for i = 1, 50 do sum = sum + pop() end print(sum, q[50], q.first, q.last)
local C = setmetatable({}, {__index = function() return "default" end})
C.a = 1 C.a = nil C.b = 2 C.c = 3 C.d = 4 C.e = 5 C.f = 6 C.g = 7
print(C.a, C.b, C.zzz, rawget(C, "a"))
local nested = {a = {b = {c = {1, 2, {d = "deep"}}}}}
print(nested.a.b.c[3].d, nested["a"]["b"].c[2], #nested.a.b.c)
local mixed = {10, 20, x = 1, 30, [100] = 5, ["key with space"] = 6}
print(#mixed, mixed[3], mixed.x, mixed[100], mixed["key with space"])
print(({10, 20, 30})[2], ({a = 5}).a, #({1, 2}))
local keys = {} keys[1.0] = "float one" keys[2^53] = "big" print(keys[1], keys[9007199254740992])
keys[true] = "t" keys[false] = "f" print(keys[true], keys[false])
t = {} t[1] = 1 t[2] = 2 t[4] = 4 print(t[1], t[2], t[3], t[4])
t = {} for i = 10, 1, -1 do t[i] = i end print(#t)
t = {n = 0} t.n = t.n + 1 t["n"] = t["n"] + 1 print(t.n)
local big = {} for i = 1, 1000 do big[i] = i end for i = 1000, 501, -1 do big[i] = nil end print(#big)
print(table.unpack({1, 2, 3}, -1, 1))
print(pcall(table.concat, {1, {}}))
print(rawequal(t, t), rawequal(t, {}), rawlen({1, 2}), rawget({a = 1}, "a"), rawset({}, "a", 1).a)
local a = {} a.self = a print(a.self.self.self == a)
print(#{(function() return 1, 2, 3 end)()}, #{(function() return 1, 2, 3 end)(), 10}, #{((function() return 1, 2, 3 end)())})
local order = {f = function(self, k) self[k] = k return self end}
print(order:f("a"):f("b").b)
