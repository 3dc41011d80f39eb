-- expect: string size
return ("x"):rep(math.maxinteger, "yy")
