-- expect: body size
r:SetRequestBody(("x"):rep(4000000))
