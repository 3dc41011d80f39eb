// ends: pattern steps | compute time
/a*b/.test('a'.repeat(1e6));
