-- expect: fuel|compute time|total time|ok
local t = {} for i = 1, 200000 do t[i] = (i * 7919) % 1000003 end table.sort(t, function(a, b) return a < b end)
