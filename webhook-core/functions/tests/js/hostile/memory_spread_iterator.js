// ends: memory | compute time
[...{ *[Symbol.iterator]() { for (;;) yield 1; } }];
