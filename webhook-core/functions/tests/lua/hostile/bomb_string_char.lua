-- expect: too many|registers|unpacked|string size
local t = {} for i = 1, 9000 do t[i] = 65 end return string.char(table.unpack(t))
