// ends: arrays of more | compute time
new Array(4e9).splice(0, 4e9);
