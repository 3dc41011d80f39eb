// ends: compute time | fuel
let a = [];
for (let i = 0; i < 60; i++) a = [a, a];
a.flat(Infinity);
