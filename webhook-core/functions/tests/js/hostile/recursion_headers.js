// ends: depth of the call stack | compute time
const f = () => { r.headers['x-a'] = { toString: f }; };
f();
