// ends: string size | memory | compute time
let s = 'x';
for (;;) { s += s; s.length; }
