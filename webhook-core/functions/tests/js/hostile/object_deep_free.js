// ends: well
let o = null;
for (let i = 0; i < 2e5; i++) o = [o];
o = null;
