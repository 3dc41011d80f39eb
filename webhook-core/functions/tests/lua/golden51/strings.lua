local function show(s) return (s:gsub("[%c\128-\255]", function(c) return "\\" .. c:byte() end)) end
print(("Hello"):upper(), ("Hello"):lower(), ("Hello"):len(), #"Hello", ("Hello"):reverse(), ("ab"):rep(3), ("ab"):rep(0), ("ab"):rep(-1))
for i = -7, 7 do print("sub", i, ("Hello"):sub(i), ("Hello"):sub(1, i), ("Hello"):sub(i, i), ("Hello"):byte(i)) end
print(("Hello"):byte(1, -1)) print(string.char(72, 105)) print(show(string.char(0, 1, 255)), string.char() == "")
for _, f in ipairs({ "%d", "%5d", "%-5d|", "%05d", "%+d", "%x", "%X", "%#x", "%o", "%c", "%i", "%u" }) do print(f, string.format(f, 42)) end
for _, f in ipairs({ "%f", "%.2f", "%10.3f", "%-10.1f|", "%e", "%.3e", "%E", "%g", "%.10g", "%G", "%+.1f" }) do
  print(f, string.format(f, 3.14159265), string.format(f, -0.5), string.format(f, 1e20), string.format(f, 0))
end
for _, f in ipairs({ "%s", "%10s", "%-10s|", "%.2s", "%5.1s", "%q" }) do print(f, string.format(f, "text")) end
print(string.format("%q", 'a "quoted"\\ text')) print(string.format("%%")) print(string.format("%s %s", 1, "two")) print(string.format("%d", "10"))
print(string.format("%5s|%-5s|%05.1f|%x", "ab", "cd", 3.14159, 255))
print((pcall(string.format, "%d", "x")), (pcall(string.format, "%d")), (pcall(string.format, "%y", 1)), (pcall(string.rep)))
print("10" + 5, "3" * "4", 10 .. "", "0x10" + 0, " 7 " + 1) print((pcall(function() return "a" + 1 end)), (pcall(function() return {} .. "x" end)))
print("a" < "b", "a" < "B", "Z" < "a", "" < "a", "a" <= "a", "10" < "9", "ab" > "a") print((pcall(function() return 1 < "2" end)))
print(tostring(nil), tostring(true), tostring("x"), tostring(12), tostring(-0.5), tostring(1e100), tostring(0.1), tostring(1/0), tostring(-1/0))
print(tonumber("12"), tonumber("  12  "), tonumber("1e2") == 100, tonumber("0x1F"), tonumber("12a"), tonumber(""), tonumber("ff", 16), tonumber("zz", 36), tonumber("8", 8), tonumber("101", 2), tonumber(nil))
print(#"\65\066\10", "\tx", "a\
b", [[
long]], [==[with ]] inside]==]) print(("x"):rep(3) .. "y" .. 1 .. 2) print(("%d items"):format(3), ("a b"):find(" "), #("x"):rep(1000))
-- On purpose as in 5.4: floats show that they are floats, and integers have 64 bits.
print(10 / 2, 2 ^ 10, 3 * 1.0, 1e3, 100000000000000, 2 ^ 53, 1e15) print(tostring(3.0), 7 .. "", 7.0 .. "")
-- On purpose as in 5.4: %d takes whole numbers only, and an embedded zero does not end a text.
print((pcall(string.format, "%d", 3.7)), #string.format("%s", "a\0b"), string.format("%q", "a\0b") == '"a\\0b"', ("x"):rep(2, ","))
