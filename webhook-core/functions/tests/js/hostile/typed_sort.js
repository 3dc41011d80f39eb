// ends: arrays of more | memory
new Uint8Array(3e7).sort();
