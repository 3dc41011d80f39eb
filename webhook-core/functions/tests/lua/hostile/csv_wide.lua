-- expect: memory|ok
local csv = require("csv") return csv.decode((","):rep(5000000))
