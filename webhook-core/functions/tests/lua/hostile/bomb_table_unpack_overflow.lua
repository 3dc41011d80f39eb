-- expect: unpacked values
return table.unpack({}, math.mininteger, math.maxinteger)
