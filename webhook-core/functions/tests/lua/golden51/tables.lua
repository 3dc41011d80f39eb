local t = { 1, 2, 3 }
table.insert(t, 4) table.insert(t, 1, 0) table.insert(t, 3, "m") print(table.concat(t, ",")) print(table.remove(t), table.remove(t, 1), table.remove(t, 2), table.concat(t, ","))
print(table.remove({}), #t, table.concat({}), table.concat({}, ","), table.concat({ 1 }, ","), table.concat({ 1, "b", 3 }, "-", 2), table.concat({ 1, 2, 3 }, "-", 2, 2), table.concat({ 1, 2, 3 }, "-", 3, 2) == "")
print((pcall(table.concat, { 1, {}, 3 })), (pcall(table.concat, { 1, nil, 3 }, ",", 1, 3)), (pcall(table.insert, t)))
print(unpack({ 1, 2, 3 })) print(unpack({ 1, 2, 3 }, 2)) print(unpack({ 1, 2, 3 }, 2, 3)) print(select("#", unpack({}, 1, 3))) print(select("#"), select("#", nil, nil), select(2, "a", "b", "c"), select(-1, "a", "b"))
print(table.maxn({ 1, 2, nil, 4 }), table.maxn({}), table.maxn({ [10] = 1, [2.5] = 2 }))
local keys = {} for k, v in pairs({ a = 1, b = 2, 10, 20 }) do keys[#keys + 1] = tostring(k) .. "=" .. tostring(v) end table.sort(keys) print(table.concat(keys, " "))
for i, v in ipairs({ 1, 2, nil, 4 }) do seen = i end print(seen) seen = nil
print(next({})) print(next({ 5 })) local k, v = next({ x = 1 }) print(k, v) print(rawequal(t, t), rawequal(t, {}), rawget({ a = 1 }, "a"), rawset({}, "k", "v").k)
local nested = { a = { b = { c = "deep" } }, ["with space"] = 1, [1.5] = "f", [true] = "yes" } print(nested.a.b.c, nested["with space"], nested[1.5], nested[true], nested.nope)
print((pcall(function() return nested.x.y end)), (pcall(function() nested[nil] = 1 end)), (pcall(function() nested[0 / 0] = 1 end)))
local function va(...) return select("#", ...), ... end print(va()) print(va(nil)) print(va(1, nil, 3)) print((va(1, 2))) local packed = { va("x", "y") } print(#packed, packed[1], packed[3])
local removed = {} for i = 1, 10 do removed[i] = i end for k in pairs(removed) do if k % 2 == 0 then removed[k] = nil end end local left = {} for k in pairs(removed) do left[#left + 1] = k end table.sort(left) print(table.concat(left, " "))
print(#{ 1, 2, 3 }, #{ n = 1 }, #{ "a", "b", n = 3 }, #"") local s = 0 for i = 10, 1, -3 do s = s + i end print(s) for i = 1, 0 do print("never") end for i = 1, 3 do local j = i i = 10 seen = j end print(seen)
for i = 1, 2, 0.5 do t[i] = i end print(t[1.5])
-- On purpose as in 5.4: a position outside of the list is an error, a loop over whole floats stays one of floats.
print((pcall(table.insert, { 1 }, 5, "x"))) for i = 1.0, 2 do print(i) end
