// ends: depth of the call stack | compute time
function* g() { yield* g(); }
for (const x of g()) {}
