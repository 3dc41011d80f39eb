// ends: well | compute time
('Σ' + "'".repeat(1e6)).repeat(2).toLowerCase();
