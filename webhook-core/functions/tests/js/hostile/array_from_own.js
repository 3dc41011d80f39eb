// ends: arrays of more | compute time
Array.from.call(function () { return new Uint8Array(1); }, { length: 2 ** 53 - 1 });
