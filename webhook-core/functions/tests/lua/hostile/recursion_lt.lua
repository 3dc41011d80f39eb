-- expect: memory|fuel|compute time
local mt = {} mt.__lt = function(a, b) return a < b end local a, b = setmetatable({}, mt), setmetatable({}, mt) return a < b
