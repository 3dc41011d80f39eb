-- Small things that a rewrite of Lua gets wrong.
local function try(name, f, ...) local ok, e = pcall(f, ...) print(name, ok, e) end
local sum = 0 for i = 1, "3" do sum = sum + i end print(sum, math.type(sum))
for i = "1", "2" do print(i) end
for i = "10", 1, "-4" do print(i) end
for i = 3, "1" do print("never") end
for i = 1, "2.5" do print(i) end
try("initial", function() for i = "x", 3 do end end)
try("limit", function() for i = 1, "y" do end end)
try("limit", function() for i = 1, {} do end end)
try("step", function() for i = 1, 2, "z" do end end)
local meta = {__lt = function(x, y) return x.v < y.v end}
local x, y = setmetatable({v = 1}, meta), setmetatable({v = 2}, meta)
print(x <= y, y <= x, x >= y, y >= x, x <= x)
print("\u{7FFFFFFF}" == "\xFD\xBF\xBF\xBF\xBF\xBF", "\u{D800}" == "\xED\xA0\x80", "\u{110000}" == "\xF4\x90\x80\x80", #"\\u{41}")
print([[\u{41}]], '"\u{22}', "\z
  \u{e4}")
local gone = {a = 1} gone.a = nil print(next(gone, "a"))
local list = {10, 20} list[2] = nil print(next(list, 2))
local flags = {[true] = 1, [1.5] = 2} flags[true] = nil flags[1.5] = nil print(next(flags))
local failed = coroutine.create(function() error("boom") end) coroutine.resume(failed)
print(coroutine.close(failed)) print(coroutine.close(failed))
local object = coroutine.create(function() error({code = 7}) end) coroutine.resume(object)
local ok, e = coroutine.close(object) print(ok, e.code, coroutine.status(object))
local empty = coroutine.create(function() error(nil) end) coroutine.resume(empty) print(coroutine.close(empty))
local waiting = coroutine.create(function() coroutine.yield() end) coroutine.resume(waiting)
print(coroutine.isyieldable(waiting), coroutine.isyieldable(), coroutine.isyieldable((coroutine.running())))
print(coroutine.close(waiting))
local named = setmetatable({}, {__name = "Money"})
print((string.format("%s|%10.5s", named, named):gsub("0x%x+", "ADDRESS")))
print((tostring(named):gsub("0x%x+", "ADDRESS")))
try("name", function() local s = ("x"):rep(named) end)
try("name", function() local s = named + 1 end)
try("name", function() local s = "a" .. named end)
try("name", function() local s = named < 1 end)
try("name", function() local s = named < named end)
print(table.concat(table.move({1, 2, 3}, 2, 3, 1), ","), table.concat(table.move({1, 2, 3}, 1, 3, 2), ","))
try("move", function() table.move({1, 2, 3}, 1, 3, math.maxinteger) end)
try("move", function() table.move({1, 2, 3}, math.mininteger, math.maxinteger, 1) end)
try("move", function() table.move({1, 2, 3}, 1, 3) end)
try("max", function() math.max() end)
try("min", function() math.min() end)
try("format", function() string.format("%F", 1.5) end)
do goto done ::done:: end do ::done:: end ::done::
