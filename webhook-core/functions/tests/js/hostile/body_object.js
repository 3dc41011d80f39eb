// ends: compute time | fuel
r.body = { toJSON() { for (;;) {} } };
