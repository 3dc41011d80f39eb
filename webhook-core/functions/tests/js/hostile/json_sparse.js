// ends: arrays of more
JSON.stringify(new Array(4e9));
