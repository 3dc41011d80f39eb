-- expect: fuel|compute time|total time
local function f() return f() end f()
