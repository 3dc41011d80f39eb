-- expect: string size|memory|fuel
print(setmetatable({}, {__tostring = function() return ("x"):rep(8e6) .. ("x"):rep(8e6) end}))
