-- expect: ok
local t = setmetatable({}, {__index = function() return 1 end}) for i = 1, 5000 do t["k" .. i] = i rawset(t, "k" .. i, nil) end setmetatable(t, nil) for i = 1, 5000 do t["j" .. i] = i end
