-- expect: unpacked values
return ('x'):rep(1000000):byte(1, -1)
