-- expect: string size
local s = "ab" for i = 1, 100 do s = s:rep(1000) end
