-- expect: string size
local s = ('x'):rep(1000000) return s:gsub('.*', '%0%0%0%0%0%0%0%0%0%0')
