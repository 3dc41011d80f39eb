// ends: compute time | fuel
for (;;) {}
