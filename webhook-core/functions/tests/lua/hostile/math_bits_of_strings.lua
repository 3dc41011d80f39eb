-- expect: attempt to perform bitwise
return '0' & 1
