// ends: depth of the call stack | compute time
const a = [];
a.push(a);
a.flat(Infinity);
