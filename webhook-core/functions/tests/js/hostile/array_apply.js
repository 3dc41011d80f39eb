// ends: RangeError | too many | compute time
Math.max.apply(null, { length: 4e9 });
