-- expect: memory|fuel|compute time
local mt = {} mt.__call = function(a) return 1 + a() end local a = setmetatable({}, mt) return a()
