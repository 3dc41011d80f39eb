-- expect: pattern too complex|pattern steps|ok
return ("x"):rep(100000):match(("(x?)"):rep(30))
