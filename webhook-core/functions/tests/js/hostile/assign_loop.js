// ends: compute time | fuel
const o = {};
for (let i = 0; i < 5e4; i++) o['k' + i] = i;
for (;;) Object.assign({}, o);
