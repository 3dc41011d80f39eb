-- expect: fuel|compute time|total time
for i = 1, math.huge do end
