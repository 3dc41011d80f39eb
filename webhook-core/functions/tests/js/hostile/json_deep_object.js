// ends: depth of the call stack | stack
JSON.parse('{"a":'.repeat(1e6));
