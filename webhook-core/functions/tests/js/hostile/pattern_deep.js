// ends: SyntaxError | well | stack
new RegExp('('.repeat(4000) + ')'.repeat(4000));
