-- expect: ok
local c = coroutine.wrap(function() return (("abc"):gsub(".", function(x) coroutine.yield() return x:upper() end)) end) c() c() c() assert(c() == "ABC")
