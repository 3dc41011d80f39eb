-- expect: ok
local t = {} for i = 1, 20000 do t["k" .. i] = i t["k" .. i] = nil end for i = 1, 1000 do local k = {} t[k] = 1 t[k] = nil end
