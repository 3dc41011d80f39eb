// ends: arrays of more | compute time
const a = [2, 1];
a.length = 4e9;
a.sort();
