-- expect: fuel|compute time|total time
local a = ("x"):rep(4000000) local b = ("x"):rep(4000000) while true do if a == b then end end
