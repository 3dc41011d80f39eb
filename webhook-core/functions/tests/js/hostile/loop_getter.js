// ends: compute time | fuel
const o = { get a() { return this.a2; }, get a2() { for (;;) {} } };
o.a;
