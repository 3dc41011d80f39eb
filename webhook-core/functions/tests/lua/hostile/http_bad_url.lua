-- expect: ok
local http = require("http") local v, e = http.get("file:///etc/passwd") assert(v == nil and e)
