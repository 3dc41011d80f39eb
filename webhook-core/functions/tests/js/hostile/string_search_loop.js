// ends: compute time | fuel
const s = 'a'.repeat(1e6) + 'b';
for (;;) s.indexOf('a'.repeat(1000) + 'c');
