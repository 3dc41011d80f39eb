// ends: compute time
('a'.repeat(4e6)).replaceAll('a'.repeat(2e6) + 'b', '');
