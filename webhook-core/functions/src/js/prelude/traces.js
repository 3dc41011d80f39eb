// Tells whether a call has left anything behind that the next call of the same source could find. `words` are the names in a
// source that makes no names: it comes to what these lead to and to nothing else. Made before the source runs.
(function ($, kept, words) {
  "use strict";
  const { Object, Reflect } = kept.engine ?? globalThis, { ownKeys, isExtensible } = Reflect;
  const { getOwnPropertyDescriptor, getPrototypeOf } = Object, { again, request: { rest } } = kept;
  const named = { __proto__: null }, noted = [];
  for (let i = 0; i < words.length; i++) named[words[i]] = true;
  const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";

  // What an object has now: its keys, and the values that a source can read of it. Those of a function, and of the global
  // object, it reads by their names alone.
  const note = (object) => {
    for (let i = 0; i < noted.length; i++) if (noted[i].object === object) return;
    const keys = ownKeys(object), read = [], values = [], all = typeof object !== "function" && object !== globalThis;
    noted[noted.length] = { object, keys, read, values, open: isExtensible(object) };
    for (let i = 0; i < keys.length; i++) {
      const { get } = getOwnPropertyDescriptor(object, keys[i]) ?? {};
      if (!named[keys[i]] && (!all || get !== undefined)) continue;
      const value = object[keys[i]];
      read[read.length] = keys[i];
      values[values.length] = value;
      if (isObject(value) && value !== kept.r) note(value);
    }
  };
  // Methods, by the objects that have them.
  const seen = [];
  const methods = (owner) => {
    for (; owner !== null && owner !== undefined; owner = getPrototypeOf(owner)) {
      for (let i = 0; i < seen.length; i++) if (seen[i] === owner) return;
      seen[seen.length] = owner;
      const keys = ownKeys(owner);
      for (let i = 0; i < keys.length; i++) {
        if (!named[keys[i]]) continue;
        const { value } = getOwnPropertyDescriptor(owner, keys[i]);
        if (typeof value === "function") note(value);
      }
    }
  };
  // These give bytes, which a source need not name; what is made when it is named is there now.
  const GIVE = ["bodyBytes", "responseBodyBytes", "formData", "formParts", "RequestFormData", "RequestFormParts"];
  for (let i = 0; i < GIVE.length; i++) if (named[GIVE[i]]) kept.binary();
  const globals = ownKeys(globalThis);
  for (let i = 0; i < globals.length; i++) if (named[globals[i]]) globalThis[globals[i]];
  note(globalThis);
  const { get: request } = getOwnPropertyDescriptor(globalThis, "r");
  for (let i = 0; i < globals.length; i++) {
    const { value } = getOwnPropertyDescriptor(globalThis, globals[i]);
    if (typeof value === "function" && isObject(value.prototype)) methods(value.prototype);
  }
  const generator = (function* () {})(), later = (async function* () {})();
  const others = ["", 0, true, Symbol.iterator, [].values(), ""[Symbol.iterator](), generator, later, (async () => {})(), () => {}];
  if (named.next) {
    const { Map, Set } = kept.natives ?? {}, helper = [].values().map?.((value) => value);
    const iterators = [helper, "".matchAll?.("a"), Map && new Map().keys(), Set && new Set().keys()];
    for (let i = 0; i < iterators.length; i++) if (iterators[i]) others[others.length] = iterators[i];
  }
  for (let i = 0; i < others.length; i++) methods(getPrototypeOf(Object(others[i])));
  for (const name in kept.natives) methods(kept.natives[name].prototype);
  methods(kept.engine?.RegExp?.prototype);

  const same = ({ object, keys, read, values, open }) => {
    const now = ownKeys(object);
    if (now.length !== keys.length || isExtensible(object) !== open) return false;
    if (object !== globalThis) for (let i = 0; i < keys.length; i++) if (now[i] !== keys[i]) return false;
    for (let i = 0; i < read.length; i++) if (object[read[i]] !== values[i]) return false;
    return true;
  };
  const isClean = () => {
    if (ownKeys(rest).length > 0 || getOwnPropertyDescriptor(globalThis, "r")?.get !== request) return false;
    for (let i = 0; i < noted.length; i++) if (!same(noted[i])) return false;
    for (let i = 0; i < again.length; i++) again[i]();
    return true;
  };
  for (let i = 0; i < again.length; i++) again[i]();
  return isClean;
})
