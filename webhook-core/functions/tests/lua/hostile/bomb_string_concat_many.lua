-- expect: string size|memory
local s = ("x"):rep(1000000) while true do s = s .. "y" .. s .. "z" end
