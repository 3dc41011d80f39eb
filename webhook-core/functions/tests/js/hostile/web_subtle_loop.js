// ends: compute time | memory
const data = new Uint8Array(6e6);
for (;;) await crypto.subtle.digest("SHA-512", data);
