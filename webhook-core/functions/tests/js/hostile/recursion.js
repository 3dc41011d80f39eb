// ends: depth of the call stack
const f = () => f();
f();
