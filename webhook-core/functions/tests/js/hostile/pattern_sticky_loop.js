// ends: compute time | fuel | pattern steps
for (;;) /x*y/y.test('x'.repeat(1e5));
