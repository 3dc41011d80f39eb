-- expect: body size
r:SetResponseBody(("x"):rep(4000000))
