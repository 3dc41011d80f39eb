-- expect: ok
local _ = tostring(setmetatable({}, {__name = ("x"):rep(1000000)}))
