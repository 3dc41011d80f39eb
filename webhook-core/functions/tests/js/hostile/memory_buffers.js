// ends: memory | compute time
const a = [];
for (;;) a.push(new Uint8Array(1 << 20));
