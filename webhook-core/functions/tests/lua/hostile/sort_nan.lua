-- expect: ok
local t = {} for i = 1, 100 do t[i] = 0/0 end t[50] = 1 table.sort(t)
