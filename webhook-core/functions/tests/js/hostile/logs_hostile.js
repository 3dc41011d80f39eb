// ends: well | x
console.log({ toJSON() { throw 1; }, toString() { throw 2; } });
