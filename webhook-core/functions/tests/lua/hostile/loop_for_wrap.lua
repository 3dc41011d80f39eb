-- expect: largest integer
local m = math.maxinteger for i = m - 1, m do end
