-- expect: must return a string
return tostring(setmetatable({}, {__tostring = function() return 5 end}))
