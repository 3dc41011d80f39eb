// ends: memory | compute time | fuel
const kept = [];
for (;;) try { for (;;) kept.push(new Array(5000).fill(kept)); } catch {}
