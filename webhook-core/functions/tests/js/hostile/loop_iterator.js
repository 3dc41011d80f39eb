// ends: compute time | fuel
for (const x of { [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) }) {}
