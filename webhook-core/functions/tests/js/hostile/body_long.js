// ends: body size
r.body = 'x'.repeat(4e6);
