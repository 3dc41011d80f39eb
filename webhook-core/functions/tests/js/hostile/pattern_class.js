// ends: compute time | well
let s = '';
for (let i = 0x4e00; i < 0x4e00 + 16000; i += 2) s += String.fromCharCode(i);
new RegExp('[' + s + ']', 'iu').test('x');
