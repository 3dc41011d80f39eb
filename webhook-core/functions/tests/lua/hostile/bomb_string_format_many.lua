-- expect: fuel|compute time|total time|memory|string size
local t = {} for i = 1, 1000 do t[i] = 1 end local f = ('%99d'):rep(1000) while true do string.format(f, table.unpack(t)) end
