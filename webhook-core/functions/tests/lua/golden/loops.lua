for i = 1, 3 do print(i) end
for i = 3, 1, -1 do print(i) end
for i = 1, 0 do print("never") end
for i = 1.0, 2 do print(i) end
for i = 1, 10 / 4 do print(i) end
for i = 1, 2.9 do print(i) end
for i = 0, 1, 0.25 do print(i) end
for i = -1, -3, -1 do print(i) end
local function n() return 3 end
for i = n() - 1, n() do print(i) end
for i = 1, n() do print(i) end
for i = 1, math.huge do if i > 3 then break end print(i) end
for i = 3, -math.huge, -1 do if i < 1 then break end print(i) end
print(pcall(function() for i = 1, 10, 0 do end end))
print(pcall(function() for i = "a", 10 do end end))
print(pcall(function() for i = 1, {} do end end))
print(pcall(function() for i = 1, 2, "x" do end end))
for k, v in next, {10} do print(k, v) end
local t = {}
for i, v in ipairs({1, 2, nil, 4}) do t[#t + 1] = v end
print(#t)
local keys = {}
for k in pairs({a = 1, b = 2, [1] = 3}) do keys[#keys + 1] = tostring(k) end
table.sort(keys)
print(table.concat(keys, ","))
local i = 1
while i < 3 do i = i + 1 end
print(i)
repeat local done = i > 5; i = i + 1 until done
print(i)
local function iter(s, c) if c < s then return c + 1, c * 2 end end
for a, b in iter, 3, 0 do print(a, b) end
local s = 0
for i = 1, 10 do if i % 2 == 0 then s = s + i end end
print(s)
for i = 1, 3 do local i = i * 2 print(i) end
local x = {f = function() return 2 end}
while x.f() < 2 do end
for k, v in pairs(setmetatable({}, {__pairs = function(t) return function(_, k) if not k then return 1, "v" end end, t, nil end})) do print(k, v) end
local d = {a = 1, b = 2, c = 3}
for k in pairs(d) do d[k] = nil end
print(next(d))
