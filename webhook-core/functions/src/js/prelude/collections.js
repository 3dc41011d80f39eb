// Map, Set and what is like them, made when a script first names one of them. Scripts may have spoilt the library
// by then: what is used is the guard's, and what is bounded no script has seen.
(function ($, kept) {
  "use strict";
  const { apply, paid, payAll, replace, only, constructor, stepping, natives, LONG } = kept;
  const { Map, Set, WeakMap, WeakSet } = natives;

  stepping(new Map().values());
  stepping(new Set().values());
  // These take no longer for more of them.
  const constants = only("get", "set", "has", "delete", "add", "keys", "values", "entries", kept.iterator);
  payAll(Map, constants);
  payAll(Set, constants);
  payAll(Map.prototype, constants);
  payAll(Set.prototype, constants);
  // A text is a key by all of its characters.
  const keyed = (owner, key) => {
    const f = owner[key];
    replace(owner, key, {
      [key](name) {
        if (typeof name !== "string" || name.length < LONG) return apply(f, this, arguments);
        return paid(f, this, arguments);
      },
    }[key]);
  };
  keyed(Map.prototype, "get");
  keyed(Map.prototype, "set");
  keyed(Map.prototype, "has");
  keyed(Map.prototype, "delete");
  keyed(Set.prototype, "add");
  keyed(Set.prototype, "has");
  keyed(Set.prototype, "delete");
  return {
    __proto__: null,
    Map: constructor(Map), Set: constructor(Set), WeakMap: constructor(WeakMap), WeakSet: constructor(WeakSet),
  };
})
