-- expect: string size
local t = {} for i = 1, 1000 do t[i] = ('x'):rep(10000) end return table.concat(t)
