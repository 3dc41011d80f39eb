-- expect: memory|fuel|compute time
local function f() pcall(f) end f()
