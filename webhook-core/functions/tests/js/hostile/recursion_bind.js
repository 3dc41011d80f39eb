// ends: memory | depth | compute time
let f = () => 1;
for (let i = 0; i < 1e5; i++) f = f.bind(null);
f();
