-- expect: interval is empty
math.random(5, 1)
