-- expect: possible loop
local t = {} setmetatable(t, t) t.__index = t return t.x
