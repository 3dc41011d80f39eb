-- expect: fuel|compute time|total time|memory
local t = {} while true do table.insert(t, 1, 1) end
