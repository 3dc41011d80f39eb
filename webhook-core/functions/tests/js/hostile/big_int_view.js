// ends: not a function
new DataView(new ArrayBuffer(8)).getBigInt64(0);
