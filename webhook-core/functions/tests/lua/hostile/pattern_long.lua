-- expect: ok|pattern too complex|pattern steps
return ("x"):rep(100):match(("x?"):rep(5000))
