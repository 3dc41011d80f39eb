// ends: depth of the call stack | compute time
Error.stackTraceLimit = 1e9;
const f = (n) => { new Error('x').stack; f(n + 1); };
f(0);
