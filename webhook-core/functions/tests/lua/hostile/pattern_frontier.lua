-- expect: ok
local _ = ("x"):rep(1000):gsub("%f[%w]%w+%f[%W]", "y")
