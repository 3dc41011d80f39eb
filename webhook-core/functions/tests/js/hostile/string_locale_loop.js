// ends: compute time | memory
const long = "a".repeat(1e6);
for (;;) (long + "b").localeCompare(long + "c");
