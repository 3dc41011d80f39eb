-- expect: fuel|compute time|total time
-- Each new metatable moves the fields.
local t = {}
for i = 1, 1e5 do t['k' .. i] = 1 end
for _ = 1, 1e6 do setmetatable(t, {}) end
