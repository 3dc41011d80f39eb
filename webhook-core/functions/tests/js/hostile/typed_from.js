// ends: memory | compute time | RangeError | arrays of more
Uint8Array.from({ length: 2 ** 53 - 1 });
