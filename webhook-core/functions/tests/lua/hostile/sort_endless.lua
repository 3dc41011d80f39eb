-- expect: fuel|compute time|total time
table.sort({1, 2, 3}, function() while true do end end)
