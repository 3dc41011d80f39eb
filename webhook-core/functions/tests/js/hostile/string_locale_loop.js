// ends: compute time
const long = "a".repeat(1e6);
for (;;) (long + "b").localeCompare(long + "c");
