// ends: compute time | fuel | memory
for (;;) new Uint8Array(2e7);
