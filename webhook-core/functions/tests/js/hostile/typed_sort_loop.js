// ends: compute time | fuel
const a = new Float64Array(1e6).map(Math.random);
for (;;) new Float64Array(a).sort();
