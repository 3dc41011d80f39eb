-- expect: ok
local t = {5, 4, 3, 2, 1} table.sort(t, function(a, b) for i = 1, 100 do t[i] = i end t[1] = nil return a < b end)
