// ends: compute time | fuel
+{ valueOf() { for (;;) {} } };
