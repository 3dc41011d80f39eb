-- expect: ok|pattern steps
return ("ab"):rep(10000):match("^(.+)%1$") and nil
