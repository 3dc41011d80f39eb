// ends: arrays of more | compute time
Array.from({ length: 2 ** 53 - 1 });
