// ends: compute time | fuel
a: for (;;) { continue a; }
