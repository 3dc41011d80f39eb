-- expect: unpacked values
return table.unpack({}, 1, 2e9)
