// ends: depth of the call stack | compute time
const o = { toJSON() { return JSON.stringify(o); } };
JSON.stringify(o);
