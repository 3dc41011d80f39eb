// ends: patterns of more
new RegExp('(?:a|b)'.repeat(1e6));
