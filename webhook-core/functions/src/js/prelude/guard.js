// Bounds what the engine's own functions may do in one step. The engine looks
// at the limits only at calls and at turns of loops, once in ten thousand of
// them; what a function of its own does in between nobody can stop. So
//  - functions that take time in proportion to their input pay for it: they
//    turn a loop once for each microsecond, and the limits are seen in time;
//  - sizes at which one step takes too long are refused beforehand;
//  - what cannot be bounded is taken away.
// Scripts may spoil the library, so nothing is looked up in it later. (The
// engine makes a call of `concat` of a template, hence none in here.)
// Each call has an engine of its own, in which all this happens anew: a function
// that is made takes some 10 000 instructions, so there is one in the place of
// each and no second one around it, and what only a name in the global object
// leads to (`collections`, `binary`, `dates`, `locales`) waits until it is named.
(function ($) {
  "use strict";
  const {
    Array, String, RegExp, Promise, Reflect, Object, Proxy, TypeError, RangeError, Symbol, Error, Number,
  } = globalThis;
  const { max, min, floor, trunc, log2 } = Math;
  const { apply, construct, ownKeys, getPrototypeOf, defineProperty, getOwnPropertyDescriptor } = Reflect;
  const { isArray } = Array;
  const { now } = performance;
  const { iterator, isConcatSpreadable, match: matching, replace: replacing, split: splitting, species,
    toStringTag } = Symbol;
  // SEARCH: characters that the engine may compare in one step; CHUNK: those of one step of many.
  // TEMPLATE: of a replacement that the engine looks through at each match. LONG: texts that take
  // time to compare. SORTED: comparisons, times 32 characters.
  const ELEMENTS = 1 << 22, SEARCH = 1 << 26, CHUNK = 1 << 24, PATTERN = 1 << 13, STRING = $.stringBytes,
    TEMPLATE = 1 << 8, LONG = 1 << 10, SORTED = 1 << 21, REPEATED = 1 << 16;
  const ENDS = "format with toFixed, or with time.format(seconds, layout, zone)";

  const hide = (object, name, value) =>
    defineProperty(object, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  const limit = (what) => new RangeError("limit exceeded: " + what);
  const pay = (since) => { for (let due = (now() - since) * 1000; due > 1; due--); };

  // `run` in the place of what is there, with its name, its length and its attributes.
  const replace = (owner, key, run) => {
    const { name, length } = owner[key];
    if (run.name !== name) defineProperty(run, "name", { __proto__: null, value: name, configurable: true });
    if (run.length !== length) defineProperty(run, "length", { __proto__: null, value: length, configurable: true });
    return (owner[key] = run);
  };
  // `check(args, this, f)` first, which may change arguments that are there and answers `this`.
  const paid = (f, self, args, check) => {
    if (check !== undefined) self = check(args, self, f);
    const since = now();
    try { return apply(f, self, args); } finally { pay(since); }
  };
  // Methods have the names of their keys. These have the length of `f`.
  const paying = (f, key = f.name, check = undefined) => {
    const { length } = f;
    if (length === 1) return { [key](a) { return paid(f, this, arguments, check); } }[key];
    if (length === 2) return { [key](a, b) { return paid(f, this, arguments, check); } }[key];
    if (length === 0) return { [key]() { return paid(f, this, arguments, check); } }[key];
    return { [key](a, b, c) { return paid(f, this, arguments, check); } }[key];
  };
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

  // Lists. What is only like an array is copied by a loop, which can be stopped.
  const short = (list) => {
    if (list.length > ELEMENTS) throw limit("arrays of more than " + ELEMENTS + " elements");
    return list;
  };
  const copied = (like) => {
    if (like === undefined || like === null) throw new TypeError("not an object");
    const length = +like.length || 0, list = [];
    if (length > ELEMENTS) throw limit("arrays of more than " + ELEMENTS + " elements");
    like = Object(like);
    for (let i = 0; i < length; i++) if (i in like) list[i] = like[i];
    if (length > 0 && list.length < length) list.length = length;
    return list;
  };
  const list = (value) => (isArray(value) ? short(value) : copied(value));

  const arrays = Array.prototype, strings = String.prototype;
  const ofArray = (args, self, f) => {
    if (!isArray(self)) throw new TypeError("Array.prototype." + f.name + " needs an array");
    return short(self);
  };
  const ofList = (args, self) => list(self);
  const { push, pop, concat } = arrays;
  payAll(arrays, only("at", "push", "pop", "keys", "values", "entries", iterator, "toString", "flat", "concat", "sort",
    "toSorted", "indexOf", "includes", "lastIndexOf"), {
    __proto__: null, copyWithin: ofArray, fill: ofArray, reverse: ofArray, shift: ofArray, splice: ofArray,
    unshift: ofArray, every: ofList, filter: ofList, find: ofList, findIndex: ofList, findLast: ofList,
    findLastIndex: ofList, flatMap: ofList, forEach: ofList, join: ofList, map: ofList, reduce: ofList,
    reduceRight: ofList, slice: ofList, some: ofList, toLocaleString: ofList, toReversed: ofList, toSpliced: ofList,
    with: ofList,
  });
  replace(arrays, "push", { push(item) { return apply(push, ofArray(arguments, this, push), arguments); } }.push);
  replace(arrays, "pop", { pop() { return apply(pop, ofArray(arguments, this, pop), arguments); } }.pop);
  // Equal texts are compared to their end, and there may be a reference to one in each place.
  const same = (text, other) => {
    if (typeof other !== "string" || other.length !== text.length) return false;
    const since = now();
    try { return text === other; } finally { pay(since); }
  };
  const looking = (key, look) => {
    const f = arrays[key];
    replace(arrays, key, {
      [key](text) {
        const own = list(this);
        if (typeof text !== "string" || text.length < LONG) return paid(f, own, arguments);
        return look(text, own, arguments.length > 1 ? trunc(+arguments[1]) || 0 : undefined, own.length);
      },
    }[key]);
  };
  const first = (text, own, from = 0, length = 0) => {
    for (let i = from < 0 ? max(0, length + from) : from; i < length; i++) if (same(text, own[i])) return i;
    return -1;
  };
  looking("indexOf", first);
  looking("includes", (text, own, from, length) => first(text, own, from, length) >= 0);
  looking("lastIndexOf", (text, own, from, length) => {
    from ??= length - 1;
    for (let i = from < 0 ? length + from : min(from, length - 1); i >= 0; i--) if (same(text, own[i])) return i;
    return -1;
  });
  // With a function for each comparison the engine looks at the limits at each.
  const inOrder = (a, b) => {
    a = String(a);
    b = String(b);
    const since = now();
    try { return a < b ? -1 : a > b ? 1 : 0; } finally { pay(since); }
  };
  const sorting = (key, check) => {
    const f = arrays[key];
    replace(arrays, key, {
      [key](compare) {
        const own = check(arguments, this, f);
        if (compare === undefined) {
          let longest = 0;
          for (let i = 0; i < own.length; i++) if (typeof own[i] === "string") longest = max(longest, own[i].length);
          if (own.length * log2(own.length + 1) * (1 + longest / 32) > SORTED) compare = inOrder;
        }
        return paid(f, own, [compare]);
      },
    }[key]);
  };
  sorting("sort", ofArray);
  sorting("toSorted", ofList);
  const { join } = arrays;
  replace(arrays, "toString", { toString() { return apply(join, this, []); } }.toString);
  replace(arrays, "concat", {
    concat(item) {
      const args = arguments;
      for (let i = 0; i < args.length; i++) {
        const arg = args[i];
        if (typeof arg !== "object" || arg === null) continue;
        if (isArray(arg)) short(arg);
        else args[i] = arg[isConcatSpreadable] ? copied(arg) : [arg];
      }
      return paid(concat, list(this), args);
    },
  }.concat);
  const flatten = (from, depth, into) => {
    for (let i = 0; i < from.length; i++) {
      if (!(i in from)) continue;
      const item = from[i];
      if (depth > 0 && isArray(item)) flatten(item, depth - 1, into);
      else into[into.length] = item;
    }
    return into;
  };
  replace(arrays, "flat", {
    flat(depth = 1) { return flatten(list(this), +depth || 0, []); },
  }.flat);
  hide(arrays, iterator, arrays.values);
  const { from } = Array;
  replace(Array, "from", {
    from(given) {
      if (given !== undefined && given !== null && given[iterator] === undefined) arguments[0] = copied(given);
      return apply(from, this, arguments);
    },
  }.from);
  // As functions of the script's kind each step of an iteration is looked at.
  const stepping = (made) => {
    const steps = getPrototypeOf(made), { next } = steps;
    replace(steps, "next", { next() { return apply(next, this, []); } }.next);
  };
  stepping(arrays.values());
  stepping(""[iterator]());
  stepping("".matchAll(/x/g));

  // Texts.
  const { indexOf, includes, lastIndexOf, split, replace: replaceFirst, replaceAll } = strings;
  const { exec } = RegExp.prototype, marks = /\p{M}{256}/u;
  const long = (length) => {
    if (length > STRING) throw limit("string size of " + STRING + " bytes");
  };
  const composed = (text) => {
    if (text.length > 256 && apply(exec, marks, [text])) throw limit("256 combining marks in a row");
    return text;
  };
  const padded = (args, self) => {
    long((args[0] = +args[0]));
    return self;
  };
  payAll(strings, only("at", "charAt", "charCodeAt", "codePointAt", "toString", "valueOf", iterator, "indexOf", "includes",
    "lastIndexOf", "split", "replace", "replaceAll", "match", "matchAll", "search", "localeCompare", "toLocaleLowerCase",
    "toLocaleUpperCase"), {
    __proto__: null, padStart: padded, padEnd: padded,
    repeat: (args, self) => {
      const text = String(self);
      long(text.length * (args[0] = +args[0]));
      return text;
    },
    normalize: (args, self) => composed(String(self)),
  });
  const { slice } = strings;
  payAll(String, only("raw"));
  const written = (self) => {
    if (self === undefined || self === null) throw new TypeError("not a string");
    return String(self);
  };
  const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";
  const isPattern = (value) => {
    if (!isObject(value)) return false;
    const own = value[matching];
    return own === undefined ? value instanceof RegExp : !!own;
  };
  // The method of a pattern, or of what stands for one.
  const method = (value, key) => (isObject(value) ? value[key] ?? undefined : undefined);
  // The engine compares at each place anew; what could take long is done piece by piece, by the part for long texts.
  const searching = (key, native, answer) => replace(strings, key, {
    [key](part, from = undefined) {
      const text = written(this);
      if (key === "includes" && isPattern(part)) throw new TypeError("regexp not supported");
      part = String(part);
      if (text.length * part.length <= SEARCH) return paid(native, text, [part, from]);
      return answer(longTexts().search(text, part, +from));
    },
  }[key]);
  searching("indexOf", indexOf, (at) => at);
  searching("includes", includes, (at) => at >= 0);
  replace(strings, "lastIndexOf", {
    lastIndexOf(part, from = undefined) {
      const text = written(this);
      part = String(part);
      from = +from;
      if (text.length * part.length <= SEARCH) return paid(lastIndexOf, text, [part, from]);
      return longTexts().lastIndexOf(text, part, from);
    },
  }.lastIndexOf);
  replace(strings, "split", {
    split(separator, limit) {
      if (this === undefined || this === null) throw new TypeError("not a string");
      const own = method(separator, splitting);
      if (own !== undefined) return apply(own, separator, [this, limit]);
      const text = written(this);
      if (separator === undefined) return paid(split, text, [separator, limit]);
      separator = String(separator);
      if (text.length * separator.length <= SEARCH) return paid(split, text, [separator, limit]);
      return longTexts().split(text, separator, limit === undefined ? 2 ** 32 - 1 : limit >>> 0);
    },
  }.split);
  const replaceIn = (key, native, all) => replace(strings, key, {
    [key](part, replacement) {
      if (this === undefined || this === null) throw new TypeError("not a string");
      if (all && isPattern(part) && !paid(includes, part.flags, ["g"])) {
        throw new TypeError("regexp must have the 'g' flag");
      }
      const own = method(part, replacing);
      if (own !== undefined) return apply(own, part, [this, replacement]);
      const text = written(this);
      part = String(part);
      if (typeof replacement !== "function") {
        replacement = String(replacement);
        const matches = all ? text.length / max(1, part.length) + 1 : 1;
        if (replacement.length * matches > CHUNK && paid(includes, replacement, ["$"])) {
          replacement = longTexts().templated(replacement);
        }
      }
      if (text.length * part.length <= SEARCH) return paid(native, text, [part, replacement]);
      return longTexts().replaced(text, part, replacement, all);
    },
  }[key]);
  replaceIn("replace", replaceFirst, false);
  replaceIn("replaceAll", replaceAll, true);
  replace(String, "raw", {
    raw(parts, ...values) {
      let text = "";
      const raw = list(parts.raw);
      for (let i = 0; i < raw.length; i++) text += i > 0 && i <= values.length ? values[i - 1] + raw[i] : raw[i];
      return text;
    },
  }.raw);

  // Patterns. Every match goes through `exec`, where its steps are counted.
  const { beginPattern, endPattern } = $;
  // One step may compare as much as a group has matched.
  const { get: source } = getOwnPropertyDescriptor(RegExp.prototype, "source"), repeats = /(?:^|[^\\])(?:\\\\)*\\[1-9k]/;
  replace(RegExp.prototype, "exec", {
    exec(text) {
      text = String(text);
      if (text.length > REPEATED && apply(exec, repeats, [apply(source, this, [])])) {
        throw limit("back references in texts of more than " + REPEATED + " characters");
      }
      beginPattern();
      const since = now();
      try { return apply(exec, this, [text]); } finally { endPattern(); pay(since); }
    },
  }.exec);
  delete RegExp.prototype.compile;
  const replaceMatches = RegExp.prototype[replacing];
  replace(RegExp.prototype, replacing, {
    [replacing](text, replacement) {
      if (typeof replacement !== "function") {
        replacement = String(replacement);
        if (replacement.length > TEMPLATE && paid(includes, replacement, ["$"])) replacement = longTexts().templated(replacement);
      }
      return apply(replaceMatches, this, [text, replacement]);
    },
  }[replacing]);
  const pattern = (args) => {
    if (typeof args[0] === "object" && args[0] !== null) return;
    if (args.length > 0 && (args[0] = String(args[0])).length > PATTERN) {
      throw limit("patterns of more than " + PATTERN + " characters");
    }
  };

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
  const safe = constructor(RegExp, pattern);
  hide(globalThis, "RegExp", safe);
  hide(globalThis, "String", constructor(String));
  hide(globalThis, "Number", constructor(Number));
  const matchingIn = (key, flags) => {
    const f = strings[key];
    replace(strings, key, {
      [key](given) {
        if (typeof given !== "object" || given === null) given = new safe(given === undefined ? "(?:)" : given, flags);
        return paid(f, this, [given]);
      },
    }[key]);
  };
  matchingIn("match", "");
  matchingIn("matchAll", "g");
  matchingIn("search", "");
  payAll(Number, only("isFinite", "isInteger", "isNaN", "isSafeInteger"));
  payAll(RegExp);
  payAll(Symbol);
  payAll(Object, only("is", "getPrototypeOf", "setPrototypeOf", "isExtensible", "hasOwn", "create",
    "defineProperty", "getOwnPropertyDescriptor"));
  payAll(JSON, only("stringify"));
  // With a function for each value the engine looks at the limits at each.
  const { stringify, parse } = JSON;
  const visiting = (visit) => function (key, value) {
    if (isArray(value)) short(value);
    return visit ? apply(visit, this, [key, value]) : value;
  };
  replace(JSON, "stringify", {
    stringify(value, replacer, space) {
      if (isArray(replacer)) {
        short(replacer);
        const whole = paid(stringify, JSON, [value, visiting()]);
        if (whole === undefined) return whole;
        return paid(stringify, JSON, [apply(parse, JSON, [whole]), replacer, space]);
      }
      const visit = visiting(typeof replacer === "function" ? replacer : undefined);
      return paid(stringify, JSON, [value, visit, space]);
    },
  }.stringify);
  payAll(Promise);

  // Numbers without bound, code from text, memory shared or waited on, and what shows the engine's own functions.
  const none = function Function() { throw new TypeError("code from text is not available"); };
  hide(getPrototypeOf(function () {}), "constructor", none);
  hide(getPrototypeOf(function* () {}), "constructor", none);
  hide(getPrototypeOf(async function () {}), "constructor", none);
  hide(getPrototypeOf(async function* () {}), "constructor", none);
  none.prototype = getPrototypeOf(none);
  hide(globalThis, "Function", none);
  const remove = (owner, names) => { for (let i = 0; i < names.length; i++) delete owner[names[i]]; };
  remove(globalThis, ["eval", "BigInt", "BigInt64Array", "BigUint64Array", "Atomics", "SharedArrayBuffer", "Proxy",
    "performance"]);
  remove(Error, ["prepareStackTrace", "captureStackTrace", "stackTraceLimit"]);

  // What is made when a script first names it. A source that does not have a name in it and no way to the global
  // object needs not even that, and most have few of them.
  const late = [], makers = [];
  const lazily = (make, names) => {
    for (let i = 0; i < names.length; i++) {
      makers[late.length] = make;
      late[late.length] = names[i];
    }
  };
  const open = () => {
    const found = $.mentioned(late);
    for (let i = 0; i < found.length; i++) {
      const name = late[found[i]], make = makers[found[i]], access = (...given) => {
        const value = given.length > 0 ? given[0] : make(name)[name];
        hide(globalThis, name, value);
        return value;
      };
      defineProperty(globalThis, name, { __proto__: null, get: access, set: access, enumerable: false, configurable: true });
    }
  };
  // A part of the prelude of its own, made once.
  let kept;
  const part = (name) => {
    let made;
    return () => (made ??= $.part(name)($, kept));
  };
  // The engine's own, which no script sees before the part has bounded it.
  const natives = { __proto__: null };
  const later = (make, names) => {
    for (let i = 0; i < names.length; i++) natives[names[i]] = globalThis[names[i]];
    remove(globalThis, names);
    lazily(make, names);
  };
  const longTexts = part("texts"), binary = part("binary"), collections = part("collections"), dates = part("dates"), locales = part("locales");
  later(collections, ["Map", "Set", "WeakMap", "WeakSet"]);
  later(dates, ["Date"]);
  later(binary, ["ArrayBuffer", "DataView", "Uint8Array", "Int8Array", "Uint8ClampedArray", "Uint16Array", "Int16Array",
    "Uint32Array", "Int32Array", "Float16Array", "Float32Array", "Float64Array"]);

  later((name) => ({ __proto__: null, [name]: paying(natives[name]) }), ["parseInt", "parseFloat", "decodeURI",
    "decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "unescape"]);
  later(() => {
    payAll(Reflect, only("get", "set", "has", "getPrototypeOf", "setPrototypeOf", "defineProperty",
      "deleteProperty", "getOwnPropertyDescriptor", "isExtensible"));
    return { __proto__: null, Reflect };
  }, ["Reflect"]);

  // What depends on a language or a country.
  lazily(locales, ["Intl"]);
  replace(strings, "localeCompare", { localeCompare(other) { return apply(locales().localeCompare, this, arguments); } }.localeCompare);
  const inLanguage = (key) =>
    replace(strings, key, { [key]() { return apply(locales()[key], this, arguments); } }[key]);
  inLanguage("toLocaleLowerCase");
  inLanguage("toLocaleUpperCase");
  const refuse = (owner, key, name) => replace(owner, key, { [key]() { throw new TypeError(name + " is not available: " + ENDS); } }[key]);
  refuse(Number.prototype, "toLocaleString", "Number.prototype.toLocaleString");

  return (kept = {
    __proto__: null,
    apply, binary, collections, composed, constructor, copied, dates, floor, getPrototypeOf, hide, isArray, isObject,
    iterator, lazily, limit, listText: arrays.toString, log2, long, max, min, natives, only, open, paid, part, payAll,
    paying, refuse, replace, short, stepping, texts: { __proto__: null, indexOf, includes, lastIndexOf, slice, join },
    trunc, CHUNK, ENDS, LONG, Proxy, SORTED, String,
  });
})
