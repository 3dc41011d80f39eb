// ends: memory | compute time
const a = [];
for (;;) a.push(new Array(1000).fill(0));
