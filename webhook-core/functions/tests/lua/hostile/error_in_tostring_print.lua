-- expect: inside
print(setmetatable({}, {__tostring = function() error("inside") end}))
