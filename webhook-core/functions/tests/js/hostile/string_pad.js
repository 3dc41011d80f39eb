// ends: string size
'x'.padStart(2 ** 29, 'ab');
