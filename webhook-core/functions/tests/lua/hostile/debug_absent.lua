-- expect: attempt
debug.getinfo(1)
