// ends: RangeError | memory | compute time
new ArrayBuffer(8, { maxByteLength: 2 ** 40 }).resize(2 ** 39);
