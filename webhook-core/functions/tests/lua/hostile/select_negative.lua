-- expect: out of range
return select(-5, 1)
