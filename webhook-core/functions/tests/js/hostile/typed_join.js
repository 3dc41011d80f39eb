// ends: memory | compute time | arrays of more
new Uint8Array(3e7).join();
