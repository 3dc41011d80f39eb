-- expect: step is zero
local s = 0 for i = 1, 10, s do end
