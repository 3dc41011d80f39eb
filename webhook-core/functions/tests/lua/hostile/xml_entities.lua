-- expect: ok
local xml = require("xml") local v, e = xml.decode("<!DOCTYPE a [<!ENTITY x \"xxxxxxxxxx\">]><a>&x;&x;</a>") assert(v == nil and e)
