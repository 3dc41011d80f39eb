-- expect: memory|fuel|compute time
local t = setmetatable({}, {}) getmetatable(t).__index = function(x, k) return x[k] end return t.x
