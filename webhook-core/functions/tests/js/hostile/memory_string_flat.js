// ends: memory | compute time | InternalError | RangeError
let s = 'x';
for (;;) { s = s + s; s.charCodeAt(1); }
