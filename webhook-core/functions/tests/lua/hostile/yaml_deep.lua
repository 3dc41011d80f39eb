-- expect: ok
local yaml = require("yaml") local v, e = yaml.decode(("["):rep(10000)) assert(v == nil and e)
