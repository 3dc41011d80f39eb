// ends: memory | RangeError
new Float64Array({ length: 2 ** 53 - 1 });
