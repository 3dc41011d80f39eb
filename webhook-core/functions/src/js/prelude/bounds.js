// What the guard needs for those sources alone that can come to functions which have to be bounded, or to what only a name leads
// to; made before any other part. Scripts may have spoilt the library by then: what is used is the guard's.
(function ($, kept) {
  "use strict";
  const {
    apply, arrays, defineProperty, hide, isArray, join, limit, list, natives, now, ofList, paid, part, pay, paying, replace, short, strings,
    ENDS, Proxy, STRING, String,
  } = kept;
  const { Array, JSON, Number, Object, Promise, Reflect, RegExp, Symbol, TypeError, construct, ownKeys, species, toStringTag } = kept.engine;

  // What is computed when it is read, and what is no function. To look at each property's attributes would take more
  // than to wrap it; one that is missing here cannot be set, and no engine starts.
  const COMPUTED = {
    __proto__: null, constructor: 1, prototype: 1, name: 1, length: 1, size: 1, buffer: 1, byteLength: 1, byteOffset: 1,
    maxByteLength: 1, resizable: 1, detached: 1, immutable: 1, [species]: 1, [toStringTag]: 1,
  };
  const NONE = { __proto__: null };
  const payAll = (owner, except = NONE, checks = NONE) => {
    const keys = ownKeys(owner);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      if (key in COMPUTED || key in except) continue;
      const f = owner[key];
      if (typeof f === "function") owner[key] = paying(f, key, checks[key]);
    }
  };
  // The members of a list, to be asked with `in`.
  const only = (...keys) => {
    const all = { __proto__: null };
    for (let i = 0; i < keys.length; i++) all[keys[i]] = 1;
    return all;
  };

  // Lists.
  const ofArray = (args, self, f) => {
    if (!isArray(self)) throw new TypeError("Array.prototype." + f.name + " needs an array");
    return short(self);
  };

  // Texts.
  const long = (length) => {
    if (length > STRING) throw limit("string size of " + STRING + " bytes");
  };
  const padded = (args, self) => {
    long((args[0] = +args[0]));
    return self;
  };
  const repeated = (args, self) => {
    const text = String(self);
    long(text.length * (args[0] = +args[0]));
    return text;
  };
  const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";

  // Constructors pay as well.
  const constructor = (real, check) => {
    const stand = new Proxy(real, {
      __proto__: null,
      apply(_, self, args) {
        const since = now();
        if (check) check(args);
        try { return apply(real, self, args); } finally { pay(since); }
      },
      construct(_, args, target) {
        const since = now();
        if (check) check(args);
        try { return construct(real, args, target === stand ? real : target); } finally { pay(since); }
      },
    });
    hide(real.prototype, "constructor", stand);
    return stand;
  };
  const refuse = (owner, key, name) => replace(owner, key, { [key]() { throw new TypeError(name + " is not available: " + ENDS); } }[key]);


  // What bounds the functions that need more than to be paid for.
  const lists = part("lists"), texts = part("strings"), patterns = part("patterns");
  const OWNERS = [arrays, strings, Array, String, Number, RegExp, Symbol, Object, JSON, Promise, Number.prototype];
  const OF_LISTS = {
    __proto__: null, copyWithin: ofArray, fill: ofArray, reverse: ofArray, shift: ofArray, splice: ofArray,
    unshift: ofArray, every: ofList, filter: ofList, find: ofList, findIndex: ofList, findLast: ofList,
    findLastIndex: ofList, flatMap: ofList, forEach: ofList, map: ofList, reduce: ofList, reduceRight: ofList,
    slice: ofList, some: ofList, toLocaleString: ofList, toReversed: ofList, toSpliced: ofList, with: ofList,
    push: lists, pop: lists, concat: lists, sort: lists, toSorted: lists, indexOf: lists, includes: lists,
    lastIndexOf: lists, flat: lists,
  };
  const OF_TEXTS = {
    __proto__: null, padStart: padded, padEnd: padded, repeat: repeated, normalize: texts, indexOf: texts, includes: texts,
    lastIndexOf: texts, split: texts, replace: texts, replaceAll: texts, match: texts, matchAll: texts, search: texts,
    localeCompare: texts, toLocaleLowerCase: texts, toLocaleUpperCase: texts,
  };
  const bound = (at, key) => {
    const owner = OWNERS[at], check = at === 0 ? OF_LISTS[key] : at === 1 ? OF_TEXTS[key] : undefined;
    if (at === 2 || check === lists) lists()(owner, key);
    else if (check === texts || (at === 3 && key === "raw")) texts()(owner, key);
    else if (at === 10) refuse(owner, key, "Number.prototype." + key);
    else if (at < OWNERS.length) owner[key] = paying(owner[key], key, check);
    else if (key === "RegExp") hide(globalThis, key, patterns()());
    else hide(globalThis, key, constructor(key === "String" ? String : Number));
  };
  // The engine's own, before one of them is replaced.
  const textNatives = () => {
    if (kept.texts !== undefined) return;
    const { indexOf, includes, lastIndexOf } = strings, slice = paying(strings.slice);
    kept.texts = { __proto__: null, indexOf, includes, lastIndexOf, slice, join };
  };

  // `bounded` has whether there may be patterns, and then the functions that a source may name, each behind its owner.
  const bind = (bounded) => {
    if (bounded[0]) patterns();
    for (let i = 1; i < bounded.length; i += 2) bound(bounded[i], bounded[i + 1]);
  };
  const reflect = () => {
    payAll(Reflect, only("get", "set", "has", "getPrototypeOf", "setPrototypeOf", "defineProperty",
      "deleteProperty", "getOwnPropertyDescriptor", "isExtensible"));
    return { __proto__: null, Reflect };
  };
  kept.constructor = constructor;
  kept.isObject = isObject;
  kept.long = long;
  kept.ofArray = ofArray;
  kept.only = only;
  kept.patterns = patterns;
  kept.payAll = payAll;
  kept.refuse = refuse;
  kept.textNatives = textNatives;
  return { __proto__: null, bind, reflect };
})
