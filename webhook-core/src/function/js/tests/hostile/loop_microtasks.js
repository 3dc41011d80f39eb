// ends: compute time | fuel
const again = () => Promise.resolve().then(again);
again();
await new Promise(() => {});
