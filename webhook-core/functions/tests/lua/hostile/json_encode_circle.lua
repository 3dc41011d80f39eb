-- expect: ok
local json = require("json") local t = {} t.t = t local v, e = json.encode(t) assert(v == nil and e)
