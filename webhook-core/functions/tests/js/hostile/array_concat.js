// ends: arrays of more | compute time
[].concat(new Array(4e9), new Array(4e9));
