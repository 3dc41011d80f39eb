// ends: depth of the call stack | compute time | fuel
const f = () => { try { f(); } finally { f(); } };
f();
