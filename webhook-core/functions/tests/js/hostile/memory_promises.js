// ends: memory | compute time
const all = [];
for (;;) all.push(new Promise(() => {}));
