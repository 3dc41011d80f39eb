-- Keys that are removed: piccolo 0.3.3 panics when a table with such keys grows.
for size = 1, 40 do
  local t = {}
  for i = 1, size do t["k" .. i] = i end
  local seen = 0
  for k in pairs(t) do t[k] = nil seen = seen + 1 end
  assert(seen == size and next(t) == nil, size)
  for i = 1, size do t["n" .. i] = i end
  for k, v in pairs(t) do t[k] = v + 1 end
  local sum = 0
  for k, v in pairs(t) do sum = sum + v end
  assert(sum == size * (size + 1) / 2 + size)
end
for size = 1, 40 do
  local t = {}
  for i = 1, size do t["k" .. i] = i end
  for i = 1, size, 2 do t["k" .. i] = nil for j = 1, size do if t["k" .. j] then t["k" .. j] = t["k" .. j] + 1 end end end
  local left = 0
  for k, v in pairs(t) do left = left + 1 t[k] = nil t["other"] = nil end
  assert(left == size // 2)
end
local t = {k = 1, m = 2, n = 3}
t.n, t.k = "x"
print(t.n, t.k, t.m)
t.k = 5 t.z = 6
print(t.k, t.z)
local objects = setmetatable({}, {__index = function() return "none" end})
local keys = {}
for i = 1, 20 do keys[i] = {} objects[keys[i]] = i end
for i = 1, 20 do objects[keys[i]] = nil end
for i = 1, 20 do assert(objects[keys[i]] == "none") objects[keys[i]] = i * 2 end
print(objects[keys[20]], getmetatable(objects).__newindex)
local k, v = next({only = 1}) print(k, v)
local u = {a = 1, b = 2, c = 3}
local k1 = next(u) u[k1] = nil
local k2 = next(u, k1) u[k2] = nil
local k3 = next(u, k2) u[k3] = nil
print(next(u, k3), next(u))
local mt = {__newindex = function(s, k, v) rawset(s, k, v) end}
local w = setmetatable({}, mt)
for i = 1, 100 do w["a" .. i] = i w["a" .. i] = nil end
for i = 1, 100 do w["b" .. i] = i end
setmetatable(w, nil)
for i = 1, 100 do w["c" .. i] = i end
local n = 0 for _ in pairs(w) do n = n + 1 end print(n)
local x = {} x.a = 1 x.a = nil print(getmetatable(x)) setmetatable(x, {__index = {y = 1}}) print(x.y, x.a)
x.b = 1 x.b = nil x.c = 2 print(x.y, x.b, x.c, getmetatable(x).__index.y)
