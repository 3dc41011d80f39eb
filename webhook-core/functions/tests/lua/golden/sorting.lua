local function show(t) print(table.concat(t, " ")) end
local t = {5, 2, 8, 1, 9, 3} table.sort(t) show(t)
table.sort(t, function(a, b) return a > b end) show(t)
t = {"banana", "apple", "Cherry", ""} table.sort(t) show(t)
t = {1.5, 2, 0.5, -1} table.sort(t) show(t)
local people = {{n = "a", a = 3}, {n = "b", a = 1}, {n = "c", a = 2}}
table.sort(people, function(x, y) return x.a < y.a end)
for _, p in ipairs(people) do print(p.n, p.a) end
print(pcall(table.sort, {1, "a", 2}))
print(pcall(table.sort, {{}, {}}))
print((pcall(table.sort, {3, 1, 2}, function() error("stop") end)))
t = {} for i = 1, 500 do t[i] = (i * 7919) % 1009 end table.sort(t)
local ok = true for i = 2, #t do ok = ok and t[i - 1] <= t[i] end print(ok)
table.sort(t, function(a, b) return a > b end)
ok = true for i = 2, #t do ok = ok and t[i - 1] >= t[i] end print(ok)
t = {} table.sort(t) show(t) t = {1} table.sort(t) show(t)
local mt = {__lt = function(a, b) return a.v < b.v end}
local objs = {} for i, v in ipairs({3, 1, 2}) do objs[i] = setmetatable({v = v}, mt) end
table.sort(objs) print(objs[1].v, objs[2].v, objs[3].v)
t = {3, 1, 2} table.sort(t, function(a, b) return a < b end) show(t)
print(pcall(function() table.sort({1, 2}, 5) end))
t = {true, false} print((pcall(table.sort, t)))
local words = {} for w in ("the quick brown fox jumps"):gmatch("%a+") do words[#words + 1] = w end
table.sort(words, function(a, b) if #a ~= #b then return #a < #b end return a < b end) show(words)
