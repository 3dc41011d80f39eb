-- expect: http calls
local http = require("http") local t = {} for i = 1, 100 do t[i] = {"get", "http://127.0.0.1/"} end http.request_batch(t)
