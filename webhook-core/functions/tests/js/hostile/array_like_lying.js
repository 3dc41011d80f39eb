// ends: well
let n = r.body.length * 0;
Array.prototype.map.call({ get length() { return n++ ? 2 ** 53 - 1 : 1; } }, (x) => x);
