-- expect: stop
table.sort({3, 2, 1}, function() error("stop") end)
