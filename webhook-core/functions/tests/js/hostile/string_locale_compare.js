// ends: combining marks
'a'.localeCompare('a' + '\u0301\u0316'.repeat(1e6));
