-- expect: ok|internal
local t = {a = 1, a = nil, b = 2, b = nil, c = 3, c = nil} for i = 1, 100 do t["x" .. i] = i end
