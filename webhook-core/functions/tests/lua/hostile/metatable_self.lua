-- expect: ok
local t = {} setmetatable(t, t) t.__index = function() return 1 end assert(t.x == 1)
