// ends: compute time | fuel
const s = '1'.repeat(4e6);
for (;;) parseInt(s, 7);
