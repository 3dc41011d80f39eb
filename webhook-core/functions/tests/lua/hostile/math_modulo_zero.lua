-- expect: n%0
return 1 % 0
