-- expect: ok
local ok, e = xpcall(function() error("a") end, function(m) error(m) end) assert(not ok)
