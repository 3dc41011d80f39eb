-- expect: ok
local c = coroutine.wrap(function() local t = {3, 2, 1} table.sort(t, function(a, b) coroutine.yield() return a < b end) return t[1] end) local n = 0 while true do n = n + 1 if c() then break end end assert(n > 1)
