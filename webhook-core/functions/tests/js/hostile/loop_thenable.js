// ends: compute time | fuel
const t = { then(f) { queueMicrotask(() => f(t)); } };
await t;
