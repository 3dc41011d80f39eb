// ends: ReferenceError
eval('for (;;) {}');
