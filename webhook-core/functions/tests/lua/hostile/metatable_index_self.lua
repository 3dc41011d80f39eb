-- expect: memory|fuel|compute time
local t = {} setmetatable(t, t) t.__index = t return t.x
