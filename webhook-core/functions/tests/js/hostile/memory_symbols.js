// ends: memory | compute time
const a = [];
for (;;) a.push(Symbol('x'.repeat(1000)));
