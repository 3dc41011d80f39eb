// ends: pattern steps | compute time
/(?:.*?,){20}x/.test('a,'.repeat(500));
