// ends: memory | string size | compute time
for (;;) encodeURIComponent('ü'.repeat(2e6));
