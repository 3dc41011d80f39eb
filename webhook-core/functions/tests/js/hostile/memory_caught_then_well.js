// ends: well | compute time
const fill = () => { const a = []; for (;;) a.push(new Array(5000).fill(0)); };
try { fill(); } catch {}
r.body = 'x';
