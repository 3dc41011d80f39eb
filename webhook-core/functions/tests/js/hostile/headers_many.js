// ends: too many headers
for (let i = 0; ; i++) r.setHeader('x-' + i, 'v');
