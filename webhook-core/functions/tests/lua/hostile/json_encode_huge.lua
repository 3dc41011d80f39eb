-- expect: string size|memory
local json = require("json") local t = {} local s = ("x"):rep(100000) for i = 1, 1000 do t[i] = s end return json.encode(t)
