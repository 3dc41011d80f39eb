-- expect: ok
local m = math.mininteger assert(m % -1 == 0 and m // -1 == m and -m == m and math.abs(m) == m) local n = m - 1 local s = m << 64
