-- expect: ok
for i = 1, 1000 do setmetatable({}, {__gc = function() error("gc") end}) end
