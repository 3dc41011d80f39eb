-- expect: memory|fuel|compute time
local mt = {} mt.__add = function(a, b) return a + b end local a = setmetatable({}, mt) return a + a
