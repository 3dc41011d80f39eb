-- Chains of metatables that go round end, and can be caught.
local function try(name, f, ...) local ok, e = pcall(f, ...) print(name, ok, e) end
local a, b = {}, {} setmetatable(a, {__index = b}) setmetatable(b, {__index = a})
try("two", function() local v = a.x return v end)
try("method", function() local v = a:x() return v end)
b.x = 1 print(a.x, b.x)
local s = {} setmetatable(s, s) s.__index = s
try("itself", function() local v = s.nope return v end)
s.__index = nil print(s.nope, getmetatable(s) == s)
local t = {} local meta = {} setmetatable(t, meta) rawset(meta, "__index", t)
try("rawset", function() local v = t.y return v end)
meta.__index = function(_, k) return k .. "!" end print(t.y)
local n = {} setmetatable(n, {__newindex = n})
try("newindex", function() n.z = 3 end)
print(rawget(n, "z")) rawset(n, "z", 1) n.z = 4 print(n.z)
local A, B, C = {}, {}, {} A.__index, B.__index, C.__index = B, C, A
setmetatable(A, A) setmetatable(B, B) setmetatable(C, C)
try("three", function() local v = A.foo return v end)
C.foo = 9 print(A.foo, B.foo)
local outside = setmetatable({}, {__index = A}) print(outside.foo)
try("into", function() local v = outside.bar return v end)
try("nil", function() n.w = nil end)
local fine = {} fine.__index = fine function fine.new() return setmetatable({}, fine) end
function fine:hi() return "hi" end print(fine.new():hi(), fine.new().nope)
local far = {} for i = 1, 50 do far = setmetatable({[i] = i}, {__index = far}) end print(far[1], far[50], far[51])
