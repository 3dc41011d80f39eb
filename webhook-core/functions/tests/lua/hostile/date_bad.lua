-- expect: ok
for _, f in ipairs({"%", "%Ez", "%Q", ("%c"):rep(10000)}) do pcall(os.date, f) end pcall(os.date, "*t", math.maxinteger) pcall(os.time, {year = math.maxinteger, month = 1, day = 1})
