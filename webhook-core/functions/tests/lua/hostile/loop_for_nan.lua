-- expect: ok
for i = 0/0, 1 do error("ran") end for i = 1, 0/0 do error("ran") end
