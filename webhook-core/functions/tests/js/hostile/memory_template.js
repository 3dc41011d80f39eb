// ends: memory | string size | compute time
let s = 'x'.repeat(1e6);
s = `${s}${s}${s}${s}${s}${s}${s}${s}`;
s = `${s}${s}${s}${s}${s}${s}${s}${s}`;
s.indexOf('y');
