-- expect: http calls
local http = require("http") for i = 1, 100 do http.get("http://127.0.0.1/") end
