-- expect: fuel|compute time|total time|memory
local s = ("X"):rep(8000000) while true do s:lower() end
