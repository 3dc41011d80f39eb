-- expect: ok
local function f(n) if n == 0 then error("bottom") end local ok, e = pcall(f, n - 1) error(e, 0) end local ok, e = pcall(f, 500) assert(not ok)
