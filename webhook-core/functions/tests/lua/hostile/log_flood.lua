-- expect: ok|fuel|compute time
for i = 1, 100000 do print(("x"):rep(100)) end
