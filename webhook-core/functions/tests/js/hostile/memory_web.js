// ends: memory | compute time
const kept = [];
for (;;) kept.push(new TextEncoder().encode("a".repeat(1e5)), new Headers({ a: "b".repeat(1e5) + kept.length }));
