-- What docs/functions.md lists as different from 5.4, but for what is not there at all.
local function try(name, f, ...) local ok, e = pcall(f, ...) print(name, ok, e) end
local s = "text"
try("no fields of strings", function() local f = s.upper end)
local order = {} local function note(v) order[#order + 1] = v return v end
local t = {note(1), a = note(2), note(3)} print(table.concat(order, " "))
try("largest integer", function() local n = 0 for i = math.maxinteger - 1, math.maxinteger do n = n + 1 end end)
print(2^53 == 2^53 + 1, (1 << 53) + 1 == 2^53)
print(math.type(0xffffffffffffffff))
local proxy = setmetatable({}, {__index = function(_, k) return k <= 3 and k * 10 or nil end, __len = function() return 3 end})
print(table.unpack(proxy, 1, 3))
try("concat", function() local s = table.concat(proxy, ",", 1, 3) end)
print(table.concat(table.move(proxy, 1, 3, 1, {}), ","))
try("max of texts", function() local n = math.max("10", 2) end)
local function count(...) return arg and arg.n end print(count(1, 2))
print(pcall(next, {}, "never"))
print(pcall(next, {10, 20}, 3))
local function deep() error("where", 2) end
try("level 2", function()
  deep()
end)
print(pcall(setmetatable({}, {__index = {}})))
