// ends: arrays of more than
new Float64Array({ length: 2 ** 53 - 1 });
