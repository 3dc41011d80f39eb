// ends: compute time | fuel | memory | arrays of more | total time | RangeError
const s = 'x'.repeat(1e6);
for (let i = 0; ; i++) Symbol.for(s + i);
