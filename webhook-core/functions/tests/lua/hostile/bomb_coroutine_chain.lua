-- expect: memory|fuel|compute time
local function f() return coroutine.wrap(function() return f()() end) end f()()
