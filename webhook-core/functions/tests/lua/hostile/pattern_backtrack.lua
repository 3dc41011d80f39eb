-- expect: pattern steps
return (("a"):rep(30000)):match(".-.-.-.-b$")
