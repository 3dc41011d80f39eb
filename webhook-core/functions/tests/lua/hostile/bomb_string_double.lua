-- expect: string size
local s = "x" while true do s = s .. s end
