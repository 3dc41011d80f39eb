-- expect: ok
local xml = require("xml") local v, e = xml.decode(("<a>"):rep(100000)) assert(v == nil and e)
