-- expect: ok|fuel|pattern steps
local _ = tonumber(("9"):rep(1000000)), tonumber("0x" .. ("f"):rep(1000000)), tonumber(("1"):rep(100000), 2)
