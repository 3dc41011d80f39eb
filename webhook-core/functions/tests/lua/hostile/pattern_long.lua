-- expect: ok|pattern too complex|pattern steps
local _ = ("x"):rep(100):match(("x?"):rep(5000))
