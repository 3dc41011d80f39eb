// ends: compute time
('a'.repeat(4e6)).indexOf('a'.repeat(2e6) + 'b');
