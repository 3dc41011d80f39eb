-- expect: fuel|compute time|total time
local a, b = ("x"):rep(1000000), ("x"):rep(1000000) while true do if a < b then end end
