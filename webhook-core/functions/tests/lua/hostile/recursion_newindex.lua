-- expect: memory|fuel|compute time
local t = setmetatable({}, {}) getmetatable(t).__newindex = function(x, k, v) x[k] = v end t.x = 1
