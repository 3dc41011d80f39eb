-- expect: fuel|compute time|total time|pattern steps
for _ in (("x"):rep(1000000)):gmatch("") do end while true do for _ in ("x"):gmatch("x") do end end
