// ends: pattern steps
'a'.repeat(50).split(/(a+)+b/);
