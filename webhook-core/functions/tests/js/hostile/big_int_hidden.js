// ends: ReferenceError | not a function | undefined
new BigInt64Array(1)[0] ** 3;
