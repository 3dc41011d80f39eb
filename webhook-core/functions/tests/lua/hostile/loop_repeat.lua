-- expect: fuel|compute time|total time
repeat until false
