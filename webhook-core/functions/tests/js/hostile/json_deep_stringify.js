// ends: stack | compute time
let o = {};
for (let i = 0; i < 2e5; i++) o = { o };
JSON.stringify(o);
