// ends: compute time | fuel
for (;;) console.log('x'.repeat(1000));
