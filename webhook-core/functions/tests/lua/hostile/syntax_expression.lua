-- expect: unexpected
1 + 1
