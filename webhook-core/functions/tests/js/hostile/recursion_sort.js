// ends: depth of the call stack | compute time
const f = () => [1, 2].sort(f);
f();
