-- expect: unpacked values|too short|pattern steps
return string.unpack(("b"):rep(100000), ("x"):rep(100000))
