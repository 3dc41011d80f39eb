// ends: SyntaxError | well | memory | pattern steps
new RegExp('(?:a{0,1000}){0,1000}'.repeat(20) + 'b').test('a'.repeat(1000));
