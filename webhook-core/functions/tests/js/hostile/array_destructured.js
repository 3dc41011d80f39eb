// ends: compute time | fuel | memory
const a = [1];
a.length = 4294967295;
const [...b] = a;
