-- expect: memory|ok
local xml = require("xml") return xml.decode("<a>" .. ("<b/>"):rep(1000000) .. "</a>")
