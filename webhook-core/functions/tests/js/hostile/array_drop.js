// ends: compute time | fuel | memory
const a = [1];
a.length = 4294967295;
a.values().drop(4e9).next();
