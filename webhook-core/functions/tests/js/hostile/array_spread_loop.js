// ends: compute time | fuel
const a = new Array(5e5).fill(1);
for (;;) [...a];
