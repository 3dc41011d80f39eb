// ends: combining marks
('a' + '\u0301\u0316'.repeat(1e6)).normalize('NFD');
