-- expect: body size
r.RequestBody = ("x"):rep(4000000)
