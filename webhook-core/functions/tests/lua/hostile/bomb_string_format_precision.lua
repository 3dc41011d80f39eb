-- expect: invalid conversion|invalid format
return string.format('%.100000f', 1)
