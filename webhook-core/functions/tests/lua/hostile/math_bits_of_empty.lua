-- expect: attempt to perform bitwise
return '' | 1
