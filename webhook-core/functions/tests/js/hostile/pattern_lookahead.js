// ends: pattern steps
/(?=(a+))*(a+)+b/.test('a'.repeat(50));
