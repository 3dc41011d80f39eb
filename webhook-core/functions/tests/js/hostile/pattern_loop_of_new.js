// ends: compute time | fuel | memory
for (let i = 0; ; i++) new RegExp('[a-z]{1,50}' + i + 'x|y'.repeat(2500));
