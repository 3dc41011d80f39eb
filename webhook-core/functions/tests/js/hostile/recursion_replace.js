// ends: depth of the call stack | compute time
const f = () => 'a'.replace(/a/, f);
f();
