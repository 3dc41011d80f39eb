-- expect: memory|fuel|compute time
local g local function f() g() end g = function() f() end f()
