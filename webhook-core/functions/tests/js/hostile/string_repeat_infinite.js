// ends: RangeError | string size
'x'.repeat(Infinity);
