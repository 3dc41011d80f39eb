// ends: depth of the call stack | compute time
const o = { get a() { return this.a; } };
o.a;
