-- expect: fuel|compute time|total time
local t = {} for i = 1, 1000 do t[i] = i end while true do local n = #t end
