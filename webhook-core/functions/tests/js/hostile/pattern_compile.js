// ends: not a function
/a/.compile('(a+)+b');
