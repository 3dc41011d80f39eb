// ends: pattern steps
'a'.repeat(50).replace(/(a+)+b/g, '');
