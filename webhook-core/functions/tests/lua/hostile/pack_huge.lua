-- expect: string size|out of limits|invalid|too large
return string.pack("!16" .. ("x"):rep(100) .. "c1000000000", "x")
