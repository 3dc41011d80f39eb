-- expect: ok
local json = require("json") local v, e = json.decode(("["):rep(100000)) assert(v == nil and e)
