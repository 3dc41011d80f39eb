// ends: memory | compute time | fuel
for (;;) Promise.reject(new Error('x'));
