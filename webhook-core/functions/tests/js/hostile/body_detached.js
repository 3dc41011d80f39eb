// ends: well | TypeError
const b = new ArrayBuffer(8);
b.transfer();
r.body = b;
