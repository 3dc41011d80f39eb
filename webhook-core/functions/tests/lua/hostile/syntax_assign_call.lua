-- expect: assign
f() = 1
