// ends: compute time | fuel
return { get body() { for (;;) {} } };
