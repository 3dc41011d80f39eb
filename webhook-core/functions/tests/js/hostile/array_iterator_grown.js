// ends: compute time | fuel | memory
const a = [1], it = a.values();
a.length = 4294967295;
new Set(it);
