-- expect: fuel|compute time|total time|attempt
local s = ("1"):rep(1000) while true do local x = s + 1 end
