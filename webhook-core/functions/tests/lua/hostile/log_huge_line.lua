-- expect: ok
print(("x"):rep(8000000))
