// ends: total time | compute time
const o = {};
for (let i = 0; i < 2e3; i++) o['k' + i] = i;
for (;;) ({ ...o });
