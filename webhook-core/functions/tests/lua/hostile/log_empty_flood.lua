-- expect: ok|fuel|compute time
for i = 1, 1000000 do print() end
