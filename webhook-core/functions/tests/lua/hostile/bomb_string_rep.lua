-- expect: string size
return ("x"):rep(1e9)
