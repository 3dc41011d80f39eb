// ends: code from text
(() => {}).constructor('for (;;) {}')();
