// ends: depth of the call stack | stack | compute time
JSON.parse('{"a":'.repeat(1e6));
