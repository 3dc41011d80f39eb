-- expect: invalid conversion
return string.format('%1000000d', 1)
