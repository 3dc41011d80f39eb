-- expect: ok
for i = 1, 100 do math.random(math.mininteger, math.maxinteger) end
