-- expect: string size
return (('x'):rep(1000000)):gsub('x', ('y'):rep(100))
