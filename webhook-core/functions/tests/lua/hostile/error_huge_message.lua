-- expect: x
error(("x"):rep(1000000))
