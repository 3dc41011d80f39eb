// ends: string size
'x'.repeat(2 ** 29);
