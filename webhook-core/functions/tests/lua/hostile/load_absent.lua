-- expect: attempt
load("return 1")()
