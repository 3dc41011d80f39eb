-- expect: pattern steps
return (("a"):rep(5000)):find("a*a*a*a*a*b")
