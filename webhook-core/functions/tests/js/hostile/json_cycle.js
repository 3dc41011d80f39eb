// ends: circular
const o = {};
o.o = o;
JSON.stringify(o);
