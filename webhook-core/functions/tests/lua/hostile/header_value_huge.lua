-- expect: longer than
r:SetRequestHeader("a", ("x"):rep(100000))
