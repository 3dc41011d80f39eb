// ends: depth of the call stack | compute time
class A { constructor() { new A(); } }
new A();
