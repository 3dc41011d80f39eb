// ends: memory | compute time | fuel
for (;;) queueMicrotask(() => {});
