// ends: memory | compute time
let a = [1, 2, 3, 4];
for (;;) a = a.concat(a);
