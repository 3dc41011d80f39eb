-- expect: string size
return table.concat({1, 2, 3}, ('x'):rep(5000000))
