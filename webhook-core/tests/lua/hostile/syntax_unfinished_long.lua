-- expect: long
return [[abc
