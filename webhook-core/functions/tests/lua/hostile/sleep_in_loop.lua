-- expect: total time|fuel|compute time
while true do require("time").sleep(0.001) end
