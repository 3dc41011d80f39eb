-- expect: ok|memory
local yaml = require("yaml") local s = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" for i = 1, 9 do s = s .. "a" .. i .. ": &a" .. i .. " [" .. ("*a" .. i - 1 .. ","):rep(10) .. "]\n" end local v, e = yaml.decode(s) assert(v == nil and e)
