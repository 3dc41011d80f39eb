// ends: compute time | fuel
for (;;) new Date('x'.repeat(1e6));
