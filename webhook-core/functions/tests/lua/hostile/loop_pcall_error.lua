-- expect: fuel|compute time|total time
while true do pcall(error, "x") end
