// ends: arrays of more | compute time
new Array(3e9).join();
