-- expect: fuel|compute time|total time
local t = {} for i = 1, 100 do t[i] = i end while true do for k, v in pairs(t) do end end
