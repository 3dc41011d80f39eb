// ends: memory | compute time
let o = null;
for (;;) o = { o, a: 1, b: 2, c: 3 };
