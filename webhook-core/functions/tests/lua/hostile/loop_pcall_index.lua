-- expect: fuel|compute time|total time
while true do pcall(function() local x = nil; return x.y end) end
