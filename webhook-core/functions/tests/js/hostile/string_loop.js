// ends: compute time | fuel
const s = 'x'.repeat(4e6);
for (;;) s.toUpperCase();
