-- expect: string size|pattern steps|ok|too short|expected
return string.pack(("i8"):rep(100000), 1)
