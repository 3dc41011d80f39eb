-- expect: non-suspended|dead
local w w = coroutine.wrap(function() return w() end) w()
