-- expect: total time
coroutine.wrap(function() pcall(function() require("time").sleep(1e9) end) end)()
