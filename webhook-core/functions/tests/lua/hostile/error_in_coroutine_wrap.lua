-- expect: deep
coroutine.wrap(function() coroutine.wrap(function() error("deep") end)() end)()
