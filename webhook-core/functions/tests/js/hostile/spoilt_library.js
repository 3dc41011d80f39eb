// ends: well | TypeError | null | function
for (const name of Object.getOwnPropertyNames(globalThis)) try { globalThis[name] = null; } catch {}
r.body = 'x';
