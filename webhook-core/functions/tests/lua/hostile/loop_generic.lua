-- expect: fuel|compute time|total time
for _ in function() return 1 end do end
