-- expect: fuel|memory
return table.move({1}, 1, 1e12, 2)
