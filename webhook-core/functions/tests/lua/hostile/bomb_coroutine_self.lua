-- expect: ok
local c c = coroutine.create(function() return coroutine.resume(c) end) local a, b, e = coroutine.resume(c) assert(a and not b)
