-- expect: pattern steps|ok
return (("("):rep(100000)):match("%b()")
