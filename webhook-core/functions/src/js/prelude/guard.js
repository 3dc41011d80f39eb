// Bounds what the engine's own functions may do in one step. The engine looks
// at the limits only at calls and at turns of loops, once in ten thousand of
// them; what a function of its own does in between nobody can stop. So
//  - functions that take time in proportion to their input pay for it: they
//    turn a loop once for each microsecond, and the limits are seen in time;
//  - sizes at which one step takes too long are refused beforehand;
//  - what cannot be bounded is taken away.
// Scripts may spoil the library, so nothing is looked up in it later. (The
// engine makes a call of `concat` of a template, hence none in here.)
(function ($) {
  "use strict";
  const {
    Array, String, RegExp, Promise, Reflect, Object, Proxy, TypeError, RangeError, Symbol, Map, Set, Error, Number,
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

  const hide = (object, name, value) =>
    defineProperty(object, name, { value, writable: true, enumerable: false, configurable: true });
  const limit = (what) => new RangeError("limit exceeded: " + what);
  const pay = (since) => { for (let due = (now() - since) * 1000; due > 1; due--); };

  // `run` in the place of what is there, with its name, its length and its attributes.
  const replace = (owner, key, run) => {
    const { name, length } = owner[key];
    if (run.name !== name) defineProperty(run, "name", { value: name, configurable: true });
    if (run.length !== length) defineProperty(run, "length", { value: length, configurable: true });
    return (owner[key] = run);
  };
  // Methods have the names of their keys. These have the length of `f`, at the least cost: each engine makes them all.
  const paid = (f, self, args) => {
    const since = now();
    try { return apply(f, self, args); } finally { pay(since); }
  };
  const paying = (f, key = f.name) => {
    const { length } = f;
    if (length === 1) return { [key](a) { return paid(f, this, arguments); } }[key];
    if (length === 2) return { [key](a, b) { return paid(f, this, arguments); } }[key];
    if (length === 0) return { [key]() { return paid(f, this, arguments); } }[key];
    return { [key](a, b, c) { return paid(f, this, arguments); } }[key];
  };
  // What is computed when it is read, and what is no function. To look at each property's attributes would take more
  // than to wrap it; one that is missing here cannot be set, and no engine starts.
  const COMPUTED = {
    __proto__: null, constructor: 1, prototype: 1, name: 1, length: 1, size: 1, buffer: 1, byteLength: 1, byteOffset: 1,
    maxByteLength: 1, resizable: 1, detached: 1, immutable: 1, [species]: 1, [toStringTag]: 1,
  };
  const payAll = (owner, except) => {
    const keys = ownKeys(owner);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      if (key in COMPUTED || key in except) continue;
      const f = owner[key];
      if (typeof f === "function") owner[key] = paying(f, key);
    }
  };
  // The members of a list, to be asked with `in`.
  const only = (...keys) => {
    const all = { __proto__: null };
    for (let i = 0; i < keys.length; i++) all[keys[i]] = 1;
    return all;
  };
  // `check(args, this)` first, which may change the arguments and answers `this`.
  const checked = (owner, key, check) => {
    const f = owner[key];
    replace(owner, key, { [key](...args) { return apply(f, check(args, this), args); } }[key]);
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
  payAll(arrays, only("at", "push", "pop", "keys", "values", "entries", iterator, "toString", "flat"));
  for (const key of ["copyWithin", "fill", "pop", "push", "reverse", "shift", "sort", "splice", "unshift"]) {
    checked(arrays, key, (args, self) => {
      if (!isArray(self)) throw new TypeError("Array.prototype." + key + " needs an array");
      return short(self);
    });
  }
  for (const key of ["every", "filter", "find", "findIndex", "findLast", "findLastIndex", "flatMap", "forEach",
    "includes", "indexOf", "join", "lastIndexOf", "map", "reduce", "reduceRight", "slice", "some",
    "toLocaleString", "toReversed", "toSorted", "toSpliced", "with"]) {
    checked(arrays, key, (args, self) => list(self));
  }
  // Equal texts are compared to their end, and there may be a reference to one in each place.
  const same = (text, other) => {
    if (typeof other !== "string" || other.length !== text.length) return false;
    const since = now();
    try { return text === other; } finally { pay(since); }
  };
  const looking = (key, look) => {
    const f = arrays[key];
    replace(arrays, key, {
      f(...args) {
        const text = args[0];
        if (typeof text !== "string" || text.length < LONG) return apply(f, this, args);
        const own = list(this);
        return look(text, own, args.length > 1 ? trunc(+args[1]) || 0 : undefined, own.length);
      },
    }.f);
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
  for (const key of ["sort", "toSorted"]) {
    checked(arrays, key, (args, self) => {
      if (args[0] !== undefined) return self;
      const own = list(self);
      let longest = 0;
      for (let i = 0; i < own.length; i++) if (typeof own[i] === "string") longest = max(longest, own[i].length);
      if (own.length * log2(own.length + 1) * (1 + longest / 32) > SORTED) args[0] = inOrder;
      return self;
    });
  }
  const { join, concat } = arrays;
  replace(arrays, "toString", { f() { return apply(join, this, []); } }.f);
  replace(arrays, "concat", {
    f(...args) {
      for (let i = 0; i < args.length; i++) {
        const arg = args[i];
        if (typeof arg !== "object" || arg === null) continue;
        if (isArray(arg)) short(arg);
        else args[i] = arg[isConcatSpreadable] ? copied(arg) : [arg];
      }
      return apply(concat, list(this), args);
    },
  }.f);
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
    f(depth = 1) { return flatten(list(this), +depth || 0, []); },
  }.f);
  hide(arrays, iterator, arrays.values);
  checked(Array, "from", (args, self) => {
    const from = args[0];
    if (from !== undefined && from !== null && from[iterator] === undefined) args[0] = copied(from);
    return self;
  });
  // As functions of the script's kind each step of an iteration is looked at.
  for (const made of [[].values(), new Map().values(), new Set().values(), ""[iterator](), "".matchAll(/x/g)]) {
    const steps = getPrototypeOf(made), { next } = steps;
    replace(steps, "next", { f() { return apply(next, this, []); } }.f);
  }

  // Texts.
  payAll(strings, only("at", "charAt", "charCodeAt", "codePointAt", "toString", "valueOf", iterator));
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
  // The engine compares at each place anew; what could take long is searched piece by piece.
  const { indexOf, includes, slice, lastIndexOf, split, replace: replaceFirst, replaceAll } = strings;
  const places = (text, part, from, visit) => {
    const step = max(1, floor(CHUNK / part.length));
    for (let base = from; base + part.length <= text.length; base += step) {
      if (from >= base + step) continue;
      const piece = apply(slice, text, [base, base + step + part.length - 1]);
      for (let at = max(0, from - base); at < step;) {
        const place = apply(indexOf, piece, [part, at]);
        if (place < 0) break;
        if (!visit(base + place)) return;
        at = place + part.length;
        from = base + at;
      }
    }
  };
  const search = (text, part, from) => {
    let place = -1;
    places(text, part, max(0, trunc(from) || 0), (at) => { place = at; return false; });
    return place;
  };
  const searching = (key, native, answer) => replace(strings, key, {
    f(part, from) {
      const text = written(this);
      if (key === "includes" && isPattern(part)) throw new TypeError("regexp not supported");
      part = String(part);
      if (text.length * part.length <= SEARCH) return apply(native, text, [part, from]);
      return answer(search(text, part, +from));
    },
  }.f);
  searching("indexOf", indexOf, (at) => at);
  searching("includes", includes, (at) => at >= 0);
  replace(strings, "lastIndexOf", {
    f(part, from) {
      const text = written(this);
      part = String(part);
      from = +from;
      if (text.length * part.length <= SEARCH) return apply(lastIndexOf, text, [part, from]);
      const step = max(1, floor(CHUNK / part.length));
      let last = text.length - part.length;
      if (from === from) last = min(last, max(0, trunc(from)));
      for (; last >= 0; last -= step) {
        const base = max(0, last - step + 1);
        const place = apply(lastIndexOf, apply(slice, text, [base, last + part.length]), [part]);
        if (place >= 0) return base + place;
      }
      return -1;
    },
  }.f);
  replace(strings, "split", {
    f(separator, limit) {
      if (this === undefined || this === null) throw new TypeError("not a string");
      const own = method(separator, splitting);
      if (own !== undefined) return apply(own, separator, [this, limit]);
      const text = written(this);
      if (separator === undefined) return apply(split, text, [separator, limit]);
      separator = String(separator);
      if (text.length * separator.length <= SEARCH) return apply(split, text, [separator, limit]);
      const most = limit === undefined ? 2 ** 32 - 1 : limit >>> 0, parts = [];
      if (most === 0) return parts;
      let from = 0;
      places(text, separator, 0, (at) => {
        parts[parts.length] = apply(slice, text, [from, at]);
        from = at + separator.length;
        return parts.length < most;
      });
      if (parts.length < most) parts[parts.length] = apply(slice, text, [from]);
      return parts;
    },
  }.f);
  // A replacement with `$` as a function: the engine would look through it at each match.
  const templated = (template) => (matched, ...given) => {
    let count = given.length, groups = given[count - 1];
    if (typeof groups === "string") groups = undefined;
    else count--;
    const text = given[count - 1], position = given[count - 2], captures = count - 2;
    let made = "", from = 0;
    for (;;) {
      const start = apply(indexOf, template, ["$", from]);
      if (start < 0 || start + 1 >= template.length) break;
      made += apply(slice, template, [from, start]);
      const kind = template[start + 1];
      let put, end = start + 2;
      if (kind === "$") put = "$";
      else if (kind === "&") put = matched;
      else if (kind === "`") put = apply(slice, text, [0, position]);
      else if (kind === "'") put = apply(slice, text, [position + matched.length]);
      else if (kind >= "0" && kind <= "9") {
        let index = +kind;
        const next = template[end], both = index * 10 + +next;
        if (next >= "0" && next <= "9" && both >= 1 && both <= captures) { index = both; end++; }
        if (index >= 1 && index <= captures) put = given[index - 1] ?? "";
      } else if (kind === "<" && groups !== undefined) {
        const close = apply(indexOf, template, [">", end]);
        if (close >= 0) {
          put = groups[apply(slice, template, [end, close])] ?? "";
          end = close + 1;
        }
      }
      made += put ?? apply(slice, template, [start, end]);
      from = end;
    }
    return made + apply(slice, template, [from]);
  };
  const replaceIn = (key, native, all) => replace(strings, key, {
    f(part, replacement) {
      if (this === undefined || this === null) throw new TypeError("not a string");
      if (all && isPattern(part) && !apply(includes, part.flags, ["g"])) {
        throw new TypeError("regexp must have the 'g' flag");
      }
      const own = method(part, replacing);
      if (own !== undefined) return apply(own, part, [this, replacement]);
      const text = written(this);
      part = String(part);
      if (typeof replacement !== "function") {
        replacement = String(replacement);
        const matches = all ? text.length / max(1, part.length) + 1 : 1;
        if (replacement.length * matches > CHUNK && apply(includes, replacement, ["$"])) {
          replacement = templated(replacement);
        }
      }
      if (text.length * part.length <= SEARCH) return apply(native, text, [part, replacement]);
      if (typeof replacement === "string" && apply(includes, replacement, ["$"])) replacement = templated(replacement);
      const pieces = [];
      let made = "", from = 0;
      places(text, part, 0, (at) => {
        pieces[pieces.length] = apply(slice, text, [from, at]);
        pieces[pieces.length] =
          typeof replacement === "string" ? replacement : String(apply(replacement, undefined, [part, at, text]));
        from = at + part.length;
        if (pieces.length > LONG) { made += apply(join, pieces, [""]); pieces.length = 0; }
        return all;
      });
      return made + apply(join, pieces, [""]) + apply(slice, text, [from]);
    },
  }.f);
  replaceIn("replace", replaceFirst, false);
  replaceIn("replaceAll", replaceAll, true);
  const long = (length) => {
    if (length > STRING) throw limit("string size of " + STRING + " bytes");
  };
  checked(strings, "repeat", (args, self) => {
    const text = String(self);
    long(text.length * (args[0] = +args[0]));
    return text;
  });
  for (const key of ["padStart", "padEnd"]) {
    checked(strings, key, (args, self) => {
      long((args[0] = +args[0]));
      return self;
    });
  }
  const { exec } = RegExp.prototype, marks = /\p{M}{256}/u;
  const composed = (text) => {
    if (text.length > 256 && apply(exec, marks, [text])) throw limit("256 combining marks in a row");
    return text;
  };
  checked(strings, "normalize", (args, self) => composed(String(self)));
  replace(String, "raw", {
    f(parts, ...values) {
      let text = "";
      const raw = list(parts.raw);
      for (let i = 0; i < raw.length; i++) text += i > 0 && i <= values.length ? values[i - 1] + raw[i] : raw[i];
      return text;
    },
  }.f);

  // Patterns. Every match goes through `exec`, where its steps are counted.
  const { beginPattern, endPattern } = $;
  // One step may compare as much as a group has matched.
  const { get: source } = getOwnPropertyDescriptor(RegExp.prototype, "source"), repeats = /(?:^|[^\\])(?:\\\\)*\\[1-9k]/;
  replace(RegExp.prototype, "exec", {
    f(text) {
      text = String(text);
      if (text.length > REPEATED && apply(exec, repeats, [apply(source, this, [])])) {
        throw limit("back references in texts of more than " + REPEATED + " characters");
      }
      beginPattern();
      const since = now();
      try { return apply(exec, this, [text]); } finally { endPattern(); pay(since); }
    },
  }.f);
  delete RegExp.prototype.compile;
  checked(RegExp.prototype, replacing, (args, self) => {
    if (typeof args[1] === "function") return self;
    const replacement = args[1] = String(args[1]);
    if (replacement.length > TEMPLATE && apply(includes, replacement, ["$"])) args[1] = templated(replacement);
    return self;
  });
  const pattern = (args) => {
    if (typeof args[0] === "object" && args[0] !== null) return;
    if (args.length > 0 && (args[0] = String(args[0])).length > PATTERN) {
      throw limit("patterns of more than " + PATTERN + " characters");
    }
  };

  // Constructors pay as well.
  const constructor = (name, check) => {
    const real = globalThis[name];
    const stand = new Proxy(real, {
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
    hide(globalThis, name, stand);
    return stand;
  };
  const safe = constructor("RegExp", pattern);
  for (const key of ["match", "matchAll", "search"]) {
    checked(strings, key, (args, self) => {
      const given = args[0];
      if (typeof given !== "object" || given === null) {
        args[0] = new safe(given === undefined ? "(?:)" : given, key === "matchAll" ? "g" : "");
      }
      return self;
    });
  }
  payAll(Number, only("isFinite", "isInteger", "isNaN", "isSafeInteger"));
  payAll(RegExp, only());
  payAll(Symbol, only());
  for (const name of ["Map", "Set", "WeakMap", "WeakSet", "String", "Number", "Date", "ArrayBuffer", "DataView"]) constructor(name);
  // What is only like an array is copied by a loop here as well.
  const { isView } = ArrayBuffer;
  const elements = (args) => {
    const given = args[0];
    if (isArray(given)) short(given);
    else if (isObject(given) && !isView(given) && given.length !== undefined && (given[iterator] ?? undefined) === undefined) {
      args[0] = copied(given);
    }
  };
  for (const name of ["Uint8Array", "Int8Array", "Uint8ClampedArray", "Uint16Array", "Int16Array", "Uint32Array",
    "Int32Array", "Float16Array", "Float32Array", "Float64Array"]) {
    constructor(name, elements);
  }
  const typed = getPrototypeOf(Uint8Array.prototype);
  payAll(typed, only("at", "subarray", "keys", "values", "entries", iterator));
  payAll(getPrototypeOf(Uint8Array), only());
  for (const [owner, key] of [[getPrototypeOf(Uint8Array), "from"], [typed, "set"]]) {
    checked(owner, key, (args, self) => {
      elements(args);
      return self;
    });
  }
  hide(typed, iterator, typed.values);
  hide(typed, "toString", arrays.toString);
  for (const key of ["sort", "toSorted", "join", "toLocaleString"]) {
    checked(typed, key, (args, self) => short(self));
  }
  const ascending = (a, b) => {
    if (a < b) return -1;
    if (a > b) return 1;
    if (a !== a) return b !== b ? 0 : 1;
    if (b !== b) return -1;
    return a === 0 && b === 0 ? (1 / a < 1 / b ? -1 : 1 / a > 1 / b ? 1 : 0) : 0;
  };
  for (const key of ["sort", "toSorted"]) {
    checked(typed, key, (args, self) => {
      if (args[0] === undefined && self.length * log2(self.length + 1) > 2 * SORTED) args[0] = ascending;
      return self;
    });
  }
  for (const key of ["getBigInt64", "getBigUint64", "setBigInt64", "setBigUint64"]) delete DataView.prototype[key];
  payAll(Uint8Array, only());
  payAll(Uint8Array.prototype, only());
  payAll(ArrayBuffer.prototype, only());
  const constants = only("get", "set", "has", "delete", "add", "keys", "values", "entries", iterator);
  for (const owner of [Map, Set, Map.prototype, Set.prototype]) payAll(owner, constants);
  // A text is a key by all of its characters.
  const keyed = (owner, key) => {
    const f = owner[key];
    replace(owner, key, {
      f(name, value) {
        if (typeof name !== "string" || name.length < LONG) return apply(f, this, [name, value]);
        const since = now();
        try { return apply(f, this, [name, value]); } finally { pay(since); }
      },
    }.f);
  };
  for (const key of ["get", "set", "has", "delete"]) keyed(Map.prototype, key);
  for (const key of ["add", "has", "delete"]) keyed(Set.prototype, key);
  payAll(Object, only("is", "getPrototypeOf", "setPrototypeOf", "isExtensible", "hasOwn", "create",
    "defineProperty", "getOwnPropertyDescriptor"));
  payAll(Reflect, only("get", "set", "has", "getPrototypeOf", "setPrototypeOf", "defineProperty",
    "deleteProperty", "getOwnPropertyDescriptor", "isExtensible"));
  payAll(JSON, only());
  // With a function for each value the engine looks at the limits at each.
  const { stringify, parse } = JSON;
  const visiting = (visit) => function (key, value) {
    if (isArray(value)) short(value);
    return visit ? apply(visit, this, [key, value]) : value;
  };
  replace(JSON, "stringify", {
    f(value, replacer, space) {
      if (isArray(replacer)) {
        short(replacer);
        const whole = apply(stringify, JSON, [value, visiting()]);
        if (whole === undefined) return whole;
        return apply(stringify, JSON, [apply(parse, JSON, [whole]), replacer, space]);
      }
      const visit = visiting(typeof replacer === "function" ? replacer : undefined);
      return apply(stringify, JSON, [value, visit, space]);
    },
  }.f);
  payAll(Promise, only());
  checked(Date, "parse", (args, self) => self);
  for (const name of ["parseInt", "parseFloat", "decodeURI", "decodeURIComponent", "encodeURI",
    "encodeURIComponent", "escape", "unescape"]) {
    replace(globalThis, name, paying(globalThis[name]));
  }

  // Numbers without bound, code from text, memory shared or waited on, and what shows the engine's own functions.
  const none = function Function() { throw new TypeError("code from text is not available"); };
  for (const f of [function () {}, function* () {}, async function () {}, async function* () {}]) {
    hide(getPrototypeOf(f), "constructor", none);
  }
  none.prototype = getPrototypeOf(none);
  hide(globalThis, "Function", none);
  for (const name of ["eval", "BigInt", "BigInt64Array", "BigUint64Array", "Atomics", "SharedArrayBuffer", "Proxy",
    "performance"]) {
    delete globalThis[name];
  }
  for (const name of ["prepareStackTrace", "captureStackTrace", "stackTraceLimit"]) delete Error[name];
  return { Proxy, String, apply, paying, limit, long, hide, composed };
})
