-- expect: protected|table expected
setmetatable(r, {})
