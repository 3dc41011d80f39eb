-- expect: memory|fuel
local t = {} for i = 1, 1000 do t[i] = i end while true do table.move(t, 1, #t, #t + 1) end
