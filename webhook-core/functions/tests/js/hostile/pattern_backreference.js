// ends: pattern steps | compute time
/(a*)*\1b/.test('a'.repeat(40));
