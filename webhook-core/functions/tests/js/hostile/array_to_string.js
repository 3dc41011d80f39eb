// ends: arrays of more | compute time
`${new Array(4e9)}`;
