// ends: longer than
r.path = 'ü'.repeat(1e6);
