// ends: over 65536
r.setHeader('x-a', 'v'.repeat(1e5));
