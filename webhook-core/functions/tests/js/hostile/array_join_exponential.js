// ends: compute time | fuel | memory
let a = [];
for (let i = 0; i < 60; i++) a = [a, a];
`${a}`;
