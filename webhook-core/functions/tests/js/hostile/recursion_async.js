// ends: depth of the call stack | compute time
const f = async () => { await f(); };
await f();
