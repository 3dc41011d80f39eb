-- The table `arg` of a function with `...`.
local function count(...) return arg.n, arg[1], arg[2], arg[3] end
print(count(1, nil, 3)) print(count())
local function sum(first, ...) local s = 0 for i, v in ipairs(arg) do s = s + v end return first, s, #arg end
print(sum(1, 2, 3))
local function inside(...) return (function() return arg[1] end)() end print(inside("x"))
local function named(arg) return arg end print(named("own"))
local method = {} function method:all(...) return self == method, arg.n end print(method:all(1, 2))
local function old(...) local unpacked = {unpack(arg, 1, arg.n)} return #unpacked end print(old(1, 2))
local meta = {__lt = function(a, b) return a.v < b.v end}
local a, b = setmetatable({v = 1}, meta), setmetatable({v = 2}, meta)
print(a <= b, b <= a, a >= b, b >= a)
for i = "1", "2" do print(i) end
