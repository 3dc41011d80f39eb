// ends: compute time | fuel | memory | arrays of more | total time | RangeError
const s = '1'.repeat(4e6);
for (;;) Number(s);
