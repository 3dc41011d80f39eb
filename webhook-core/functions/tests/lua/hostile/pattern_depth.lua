-- expect: pattern too complex|pattern steps|ok
local _ = ("x"):rep(100000):match(("(x?)"):rep(30))
