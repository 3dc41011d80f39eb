-- expect: string size
local s = ('x'):rep(5000000) return string.format('%s%s', s, s)
