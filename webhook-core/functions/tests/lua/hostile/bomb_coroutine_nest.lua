-- expect: memory|fuel|compute time
local function nest(n) local c = coroutine.create(nest) return coroutine.resume(c, n + 1) end nest(0)
