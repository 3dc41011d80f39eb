-- expect: string size|memory|fuel|compute time
local json = require("json") local t = {} for i = 1, 30 do t = {t, t} end return json.encode(t)
