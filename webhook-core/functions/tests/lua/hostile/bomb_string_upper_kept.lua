-- expect: memory|fuel
local t = {} local s = ("x"):rep(1000000) for i = 1, 1e6 do t[i] = (s .. i):upper() end
