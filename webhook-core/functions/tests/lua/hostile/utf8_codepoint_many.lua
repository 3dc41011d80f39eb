-- expect: unpacked values
return utf8.codepoint(("x"):rep(100000), 1, -1)
