-- expect: fuel|compute time|total time
for i = 1, math.maxinteger - 1 do end
