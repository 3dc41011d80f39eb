// ends: arrays of more | well
r.headers.length = '9007199254740991';
Array.prototype.map.call(r.headers, (x) => x);
