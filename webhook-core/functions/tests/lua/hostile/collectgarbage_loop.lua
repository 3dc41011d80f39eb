-- expect: fuel|compute time|total time
while true do collectgarbage() end
