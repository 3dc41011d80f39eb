// ends: string size
let n = 0;
'x'.padEnd({ valueOf: () => (n++ ? 1 : 2 ** 29) });
