-- Every pattern on every subject: what find, match, gmatch and gsub give.
local subjects = { "", "a", "abc", "hello world", "  trim me  ", "key = value; other=1", "THE (quick) fox", "2024-03-01T12:30:45Z",
  "a,b,,c", "[[nested [brackets]]]", "x^2 + y^2", "100%", "äöü", "aaa", "foo.bar.baz", "line1\nline2\n", "f(a(b)c)d" }
local patterns = { "", "a", ".", "%a+", "%d+", "%s", "%w", "^%s*(.-)%s*$", "(%w+)%s*=%s*(%w+)", "%b()", "%b[]", "(%d+)-(%d+)-(%d+)", "[abc]+", "[^abc]",
  "[a-c]", "[%a_][%w_]*", "()", "()a()", "(a)(b)(c)", "a-", "a-b", "a?b", "%f[%a]%a+", "%f[%w]%w", "x%^2", "%%", "[%]]", "[]]", "[^%s]+$", "(.)%1",
  "%u+", "%l+", "%p", "%c", "%x+", "%A", "%D+", "%S+", "^a", "b$", "$", "^$", "a*$", "([^,]*)", "[%w-]+", "%z", "(%a)(%d?)", "\n", ".-\n", "[a%-z]", "o.", "l+" }
local function show(...)
  local out = {}
  for i = 1, select("#", ...) do
    out[i] = tostring((select(i, ...)))
  end
  return (table.concat(out, "|"):gsub("[\n\128-\255]", function(c) return "\\" .. c:byte() end))
end
for _, p in ipairs(patterns) do
  for number, s in ipairs(subjects) do
    local all = {}
    for a, b in s:gmatch(p) do
      all[#all + 1] = show(a, b)
      if #all > 50 then break end
    end
    print((p:gsub("\n", "\\n")), number, show(s:find(p)), show(s:match(p)), table.concat(all, ";"))
  end
end
for _, p in ipairs({ "[", "[a", "[^", "%", "a%", "(", "(a", ")", "a)", "%b", "%bx", "%1", "(a)%2", "(a%1)", "%f", "[]", "[a-", "[%", ("(a)"):rep(33) }) do
  print("malformed", (pcall(string.find, "aaa b", p)), (pcall(string.gsub, "aaa b", p, "x")))
end
-- Positions to begin at, and plain text.
for _, init in ipairs({ -100, -3, -1, 0, 1, 3, 6, 7, 100 }) do
  print("init", init, show(("banana"):find("an", init)), show(("banana"):find("an", init, true)), show(("banana"):match("a.", init)),
    show(("a.b"):find(".", init, true)), show((""):find("", init)))
end
