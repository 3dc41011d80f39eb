-- expect: compute time|total time|memory|fuel
-- A table whose fields are gone is still long to look through.
local hollow, t = {}, {}
for i = 1, 2e5 do hollow['k' .. i] = 1 end
for i = 1, 2e5 do hollow['k' .. i] = nil end
for i = 1, 1e5 do t[i] = hollow end
require('json').encode(t)
