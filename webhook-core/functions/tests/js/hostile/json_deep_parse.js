// ends: depth of the call stack | stack
JSON.parse('['.repeat(4e6));
