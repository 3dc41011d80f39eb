// ends: pattern steps
'a'.repeat(50).match('(a+)+b');
