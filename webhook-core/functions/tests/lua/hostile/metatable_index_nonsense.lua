-- expect: attempt
return setmetatable({}, {__index = 5}).x
