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
  const { max, floor, trunc } = Math;
  const { apply, construct, ownKeys, getPrototypeOf, defineProperty, getOwnPropertyDescriptor } = Reflect;
  const { isArray } = Array;
  const { now } = performance;
  const { iterator, isConcatSpreadable } = Symbol;
  const ELEMENTS = 1 << 22, SEARCH = 1 << 28, CHUNK = 1 << 24, PATTERN = 1 << 13, STRING = $.stringBytes;

  const hide = (object, name, value) =>
    defineProperty(object, name, { value, writable: true, enumerable: false, configurable: true });
  const limit = (what) => new RangeError("limit exceeded: " + what);
  const pay = (since) => { for (let due = (now() - since) * 1000; due > 1; due--); };

  // `run` in the place of `f`, with its name and length.
  const replace = (owner, key, run) => {
    const f = owner[key];
    defineProperty(run, "name", { value: f.name, configurable: true });
    defineProperty(run, "length", { value: f.length, configurable: true });
    hide(owner, key, run);
    return run;
  };
  const paying = (f) => ({
    f(...args) {
      const since = now();
      try { return apply(f, this, args); } finally { pay(since); }
    },
  }).f;
  const payAll = (owner, except) => {
    for (const key of ownKeys(owner)) {
      const { value } = getOwnPropertyDescriptor(owner, key);
      if (typeof value === "function" && key !== "constructor" && !except.has(key)) {
        replace(owner, key, paying(value));
      }
    }
  };
  // `check(args, this)` first, which may change the arguments and answers `this`.
  const checked = (owner, key, check) => {
    const f = owner[key];
    replace(owner, key, { f(...args) { return apply(f, check(args, this), args); } }.f);
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
  payAll(arrays, new Set(["at", "push", "pop", "keys", "values", "entries", iterator, "toString", "flat"]));
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
  payAll(strings, new Set(["at", "charAt", "charCodeAt", "codePointAt", "toString", "valueOf", iterator]));
  payAll(String, new Set(["raw"]));
  const found = (args, self) => {
    if (self === undefined || self === null) throw new TypeError("not a string");
    const text = String(self), part = args[0];
    if (part !== null && typeof part === "object") return text;
    if (text.length * String(part).length > SEARCH) throw limit("pattern steps, at most " + SEARCH);
    return text;
  };
  for (const key of ["lastIndexOf", "split", "replace", "replaceAll"]) checked(strings, key, found);
  // The engine compares at each place anew; what could take long is searched piece by piece.
  const { indexOf, includes, slice } = strings;
  const search = (text, part, from) => {
    const step = max(1, floor(CHUNK / part.length));
    for (let at = max(0, trunc(from) || 0); at + part.length <= text.length; at += step) {
      const place = apply(indexOf, apply(slice, text, [at, at + step + part.length - 1]), [part]);
      if (place >= 0) return at + place;
    }
    return -1;
  };
  const searching = (key, native, answer) => replace(strings, key, {
    f(part, from) {
      if (this === undefined || this === null || (typeof part === "object" && part !== null)) {
        return apply(native, this, [part, from]);
      }
      const text = String(this);
      part = String(part);
      if (text.length * part.length <= CHUNK) return apply(native, text, [part, from]);
      return answer(search(text, part, +from));
    },
  }.f);
  searching("indexOf", indexOf, (at) => at);
  searching("includes", includes, (at) => at >= 0);
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
  checked(strings, "localeCompare", (args, self) => {
    args[0] = composed(String(args[0]));
    return composed(String(self));
  });
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
  replace(RegExp.prototype, "exec", {
    f(text) {
      text = String(text);
      beginPattern();
      const since = now();
      try { return apply(exec, this, [text]); } finally { endPattern(); pay(since); }
    },
  }.f);
  delete RegExp.prototype.compile;
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
  payAll(Number, new Set(["isFinite", "isInteger", "isNaN", "isSafeInteger"]));
  payAll(RegExp, new Set());
  payAll(Symbol, new Set());
  for (const name of ["Map", "Set", "WeakMap", "WeakSet", "String", "Number", "Date", "ArrayBuffer", "DataView", "Uint8Array",
    "Int8Array", "Uint8ClampedArray", "Uint16Array", "Int16Array", "Uint32Array", "Int32Array", "Float16Array",
    "Float32Array", "Float64Array"]) {
    constructor(name);
  }
  const typed = getPrototypeOf(Uint8Array.prototype);
  payAll(typed, new Set(["at", "subarray", "keys", "values", "entries", iterator]));
  payAll(getPrototypeOf(Uint8Array), new Set());
  hide(typed, iterator, typed.values);
  hide(typed, "toString", arrays.toString);
  for (const key of ["sort", "toSorted", "join", "toLocaleString"]) {
    checked(typed, key, (args, self) => short(self));
  }
  for (const key of ["getBigInt64", "getBigUint64", "setBigInt64", "setBigUint64"]) delete DataView.prototype[key];
  payAll(Uint8Array, new Set());
  payAll(Uint8Array.prototype, new Set());
  payAll(ArrayBuffer.prototype, new Set());
  const constants = new Set(["get", "set", "has", "delete", "add", "keys", "values", "entries", iterator]);
  for (const owner of [Map, Set, Map.prototype, Set.prototype]) payAll(owner, constants);
  payAll(Object, new Set(["is", "getPrototypeOf", "setPrototypeOf", "isExtensible", "hasOwn", "create",
    "defineProperty", "getOwnPropertyDescriptor"]));
  payAll(Reflect, new Set(["get", "set", "has", "getPrototypeOf", "setPrototypeOf", "defineProperty",
    "deleteProperty", "getOwnPropertyDescriptor", "isExtensible"]));
  payAll(JSON, new Set());
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
  payAll(Promise, new Set());
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
  return { Proxy, String, apply, paying };
})
