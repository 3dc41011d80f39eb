// Tells whether a call has left anything behind that the next call of the same source could find. `words` are the names in the
// source: it comes to what these lead to and to nothing else, unless it `computes` names (`list[key]`). Such a source may come to
// every prototype and its constructor as well. `bytes`, `web` and `streams` tell whether it comes to those. Made before it runs.
(function (given, kept) {
  "use strict";
  const { words, computes, bytes, web, streams } = given;
  const { Object, Reflect } = kept.engine ?? globalThis, { ownKeys, isExtensible } = Reflect;
  const { getOwnPropertyDescriptor, getPrototypeOf, hasOwn } = Object, { again, request: { rest } } = kept;
  const named = { __proto__: null }, noted = [];
  for (let i = 0; i < words.length; i++) named[words[i]] = true;
  const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";

  // What an object has now: its keys, and the values that a source can read of it. Those of a function, and of the global
  // object, it reads by their names alone. A prototype and its constructor are looked at for `shallow`: of their functions
  // those are noted that the source names.
  const note = (object, shallow) => {
    for (let i = 0; i < noted.length; i++) if (noted[i].object === object) return;
    const whole = object !== globalThis && (shallow || typeof object !== "function");
    const keys = ownKeys(object), read = [], values = [], accessors = [], getters = [];
    noted[noted.length] = { object, keys, read, values, accessors, getters, open: isExtensible(object) };
    for (let i = 0; i < keys.length; i++) {
      const name = keys[i], { get } = getOwnPropertyDescriptor(object, name) ?? {};
      if (shallow && get !== undefined) {
        accessors[accessors.length] = name;
        getters[getters.length] = get;
        continue;
      }
      if (!named[name] && (!whole || get !== undefined)) continue;
      const value = object[name];
      // NaN is no other value, and differs from itself.
      if (value !== value) continue;
      read[read.length] = name;
      values[values.length] = value;
      if (!isObject(value) || value === kept.r) continue;
      const owner = computes && typeof value === "function" && hasOwn(value, "prototype");
      if (!shallow || named[name] || owner || typeof value !== "function") note(value, shallow || owner);
    }
  };
  // Methods, by the objects that have them.
  const seen = [];
  const methods = (owner, shallow) => {
    for (; owner !== null && owner !== undefined; owner = getPrototypeOf(owner)) {
      if (shallow) note(owner, true);
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
  // What is made when it is named is there now, and the bytes that a source need not name.
  if (bytes) kept.binary();
  const globals = ownKeys(globalThis);
  for (let i = 0; i < globals.length; i++) if (named[globals[i]]) globalThis[globals[i]];
  note(globalThis);
  const { get: request } = getOwnPropertyDescriptor(globalThis, "r");
  for (let i = 0; i < globals.length; i++) {
    const { value } = getOwnPropertyDescriptor(globalThis, globals[i]);
    if (typeof value !== "function" || !isObject(value.prototype)) continue;
    // The engine itself throws errors that a source does not name.
    methods(value.prototype, computes && (named[globals[i]] || globals[i].endsWith("Error")));
  }
  for (const name in kept.natives) methods(kept.natives[name].prototype, computes && (bytes || named[name]));
  // What texts, functions, iterators and the like of a source have, which need no name.
  const others = ["", 0, true, Symbol.iterator, [], {}, [].values(), ""[Symbol.iterator](), () => {}, async () => {}, function* () {},
    async function* () {}, (function* () {})(), (async function* () {})(), (async () => {})()];
  const add = (value) => { if (value) others[others.length] = value; };
  const { Map, Set } = kept.natives ?? {}, { RegExp } = kept.engine ?? {};
  if (computes || named.next) {
    add([].values().map?.((value) => value));
    add("".matchAll?.("a"));
    add(Map && new Map().keys());
    add(Set && new Set().keys());
  }
  for (let i = 0; i < others.length; i++) methods(getPrototypeOf(Object(others[i])), computes);
  methods(RegExp?.prototype, computes);
  // One name of the web leads to the others.
  const classes = (all) => { for (const name in all) methods(all[name].prototype, computes); };
  if (web) classes(kept.web());
  if (streams) classes(kept.streams());

  const same = ({ object, keys, read, values, accessors, getters, open }) => {
    const now = ownKeys(object);
    if (now.length !== keys.length || isExtensible(object) !== open) return false;
    if (object !== globalThis) for (let i = 0; i < keys.length; i++) if (now[i] !== keys[i]) return false;
    for (let i = 0; i < read.length; i++) if (object[read[i]] !== values[i]) return false;
    for (let i = 0; i < accessors.length; i++) {
      if (getOwnPropertyDescriptor(object, accessors[i])?.get !== getters[i]) return false;
    }
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
