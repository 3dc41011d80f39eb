// ends: depth of the call stack | compute time
const f = (...a) => f(...a, 1);
f();
