// ends: RangeError | compute time
new ArrayBuffer(2 ** 32);
