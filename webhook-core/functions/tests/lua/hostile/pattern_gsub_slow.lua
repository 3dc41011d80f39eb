-- expect: fuel|compute time|total time|pattern steps
local s = ("a"):rep(10000) while true do s:gsub("a-b", "c") end
