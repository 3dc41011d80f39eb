// ends: compute time | fuel | memory | arrays of more | total time | RangeError
await Array.fromAsync({ length: 2 ** 53 - 1 });
