-- expect: memory|fuel|compute time|attempt
local t = {} for i = 1, 1000 do t = setmetatable({}, {__call = t}) end t()
