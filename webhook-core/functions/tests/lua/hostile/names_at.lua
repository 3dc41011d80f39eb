-- expect: ok
local at = "@line" local t = {["@line"] = 1, ["@concat"] = 2} _G["@add"] = error assert(t["@line"] == 1 and 1 + 1 == 2 and "a" .. "b" == "ab")
