-- expect: fuel|compute time|total time
-- Each comparison looks at megabytes.
local s, t = ('a'):rep(8e6 - 10), {}
for i = 1, 2e4 do t[i] = s end
table.sort(t)
