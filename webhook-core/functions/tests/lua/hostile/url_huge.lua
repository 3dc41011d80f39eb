-- expect: ok
local url = require("url") local v, e = url.parse("http://" .. ("x"):rep(1000000)) url.encode(("%"):rep(1000000))
