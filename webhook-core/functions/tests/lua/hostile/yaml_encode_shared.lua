-- expect: memory|string size
local yaml = require("yaml") local t = {} for i = 1, 30 do t = {t, t} end return yaml.encode(t)
