// ends: pattern steps
/^(a|a)*$/.test('a'.repeat(50) + 'b');
