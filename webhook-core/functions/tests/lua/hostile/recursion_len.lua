-- expect: memory|fuel|compute time
local mt = {} mt.__len = function(a) return #a end local a = setmetatable({}, mt) return #a
