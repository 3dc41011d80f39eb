-- expect: ok
return tostring(setmetatable({}, {__name = ("x"):rep(1000000)}))
