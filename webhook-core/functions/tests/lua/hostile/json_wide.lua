-- expect: memory|ok
local json = require("json") return json.decode("[" .. ("0,"):rep(3000000) .. "0]")
