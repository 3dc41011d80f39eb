-- expect: ok
local t = {} for i = 1, 100 do local v = i t[i] = coroutine.wrap(function() v = v + 1 coroutine.yield(v) return v end) end for i = 1, 100 do assert(t[i]() == i + 1) end
