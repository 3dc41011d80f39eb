// ends: pattern steps
/(a+)+b/.test('a'.repeat(50));
