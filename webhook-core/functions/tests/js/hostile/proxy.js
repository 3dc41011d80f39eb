// ends: ReferenceError
new Proxy({}, { get() { for (;;) {} } }).x;
