-- expect: ok
assert(1 << 1000 == 0 and 1 >> math.mininteger == 0 and "x" ~= 1)
