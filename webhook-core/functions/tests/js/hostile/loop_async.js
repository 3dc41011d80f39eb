// ends: compute time | fuel
for (;;) await 1;
