-- expect: ok
assert(math.tointeger(2^63) == nil and math.tointeger(0/0) == nil)
