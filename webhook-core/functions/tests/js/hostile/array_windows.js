// ends: compute time | fuel | memory | arrays of more | total time | RangeError
const a = [1];
a.length = 4294967295;
a.values().windows?.(2 ** 31).next() ?? a.fill(1);
