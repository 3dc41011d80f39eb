-- expect: memory|ok|fuel
-- Each compared with all before it would take minutes.
local t = {}
for i = 1, 2e5 do t[i] = 'k' .. i .. '=""' end
require('xml').decode('<a ' .. table.concat(t, ' ') .. '/>')
