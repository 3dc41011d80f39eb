-- What a message calls the value that is missing, and on which line.
local function try(name, f, ...) local ok, e = pcall(f, ...) print(name, ok, e) end
try("sku", function() local o = {} local s = #o.items[1].sku end)
try("sku2", function() local o = {items={}} local s = #o.items[1].sku end)
try("sku3", function() local o, i = {items={}}, 1 local s = #o.items[i].sku end)
try("sku4", function() local o, i = {items={}}, "k" local s = o.items[i].sku.x end)
try("arg", function() local o = {} string.rep(o.user.name) end)
try("both", function() local o, q = {user={}} local a, b = o.user.name, q.user end)
try("upv", function() local o = {} local f = function() return o.a.b.c end return (f()) end)
try("global", function() local x = nothing.a.b, other.c end)
try("store", function() local o = {} o.user.name = 1 end)
try("store2", function() local o = {user={}} o.user.name.first = o.user.x end)
try("store3", function() local o, p = {} o.x, p.y = 1, 2 end)
try("method", function() local o = {} o.user:greet(o.x.y) end)
try("method2", function() local o = {x={}} o.user:greet(o.x.y) end)
try("method3", function() local o = {} o.x:f():g() end)
try("call", function() local function f() end f(nope(1)) end)
try("call2", function() local o = {} print(o.a(1), tostring(o.b(2))) end)
try("call3", function() local f = 1 f(f(1)) end)
try("call4", function() local t = setmetatable({}, {}) t(t(1)) end)
try("tail", function() return string.rep() end)
try("tail2", function() local f = string.rep return f() end)
try("tail3", function() local f = string.rep
  return f(f("x", 2),
    {}) end)
local function outer() local f = math.floor
  return f("x") end
try("tail4", function()
  local x = outer()
end)
try("tail5", function() local nothing
  return nothing() end)
try("tail6", function() local o = {}
  return o.x.y() end)
try("tail7", function() local o = {x={}} return o.x.y() end)
try("chain", function() local o = setmetatable({}, {__index = function(t, k) return k == "a" and {} or nil end}) return o.a.b, o.c.d end)
try("chain2", function() local o = setmetatable({}, {__index = function(t, k) return setmetatable({}, {__index = function() return nil end}) end}) return o.a.b.c, o.c.d end)
local function loop(n) if n == 0 then return "done" end return loop(n - 1) end
print(loop(10000))
local o = {a = {b = {c = 5}}, list = {{x = 1}, {x = 2}}} local i = 2
print(o.a.b.c, o.list[i].x, o.list[#o.list].x, o.list[1].x, (o.a).b.c, o["a"]["b"].c)
local function two() return 1, 2 end print(o.list[two()].x, o.list[(two())].x)
