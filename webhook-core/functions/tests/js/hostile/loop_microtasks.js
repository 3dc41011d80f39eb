// ends: compute time | fuel | nothing settles
const again = () => Promise.resolve().then(again);
again();
await new Promise(() => {});
