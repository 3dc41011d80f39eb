-- expect: string
return 'abc
