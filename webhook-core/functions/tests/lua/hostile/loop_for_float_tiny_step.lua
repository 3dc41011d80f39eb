-- expect: fuel|compute time|total time
for i = 0, 1, 1e-300 do end
