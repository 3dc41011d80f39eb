-- expect: outside a coroutine
coroutine.yield(1)
