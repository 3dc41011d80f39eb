// ends: compute time | fuel
const m = new Map();
for (let i = 0; i < 1e5; i++) m.set(i, i);
for (;;) new Map(m);
