// ends: RangeError | too many | compute time
Reflect.apply(Math.max, null, { length: 4e9 });
