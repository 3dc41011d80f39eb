-- expect: memory|fuel
local t = {} while true do local x = {} t[#t + 1] = function() return x end end
