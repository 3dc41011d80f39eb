// Bounds what the language itself does with lists and texts, and JSON, which most scripts need; the rest is in the
// guard, which says why. Scripts that come to nothing else run with this alone.
(function ($, kept) {
  "use strict";
  const { Array, String, JSON, Promise, Reflect, Object, TypeError, RangeError, Symbol } = globalThis;
  const { apply, getPrototypeOf, defineProperty } = Reflect;
  const { isArray } = Array;
  const { now } = performance;
  const { iterator } = Symbol;
  const ELEMENTS = 1 << 22;

  const hide = (object, name, value) =>
    defineProperty(object, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
  const limit = (what) => new RangeError("limit exceeded: " + what);
  // Whole microseconds: the engine counts those faster than others.
  const pay = (since) => { for (let due = ((now() - since) * 1000) | 0; due > 1; due--); };

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
  const ofList = (args, self) => list(self);
  // What is written into a text, a list is joined for.
  const { join: joined } = arrays;
  arrays.join = paying(joined, "join", ofList);
  const { join } = arrays;
  replace(arrays, "toString", { toString() { return apply(join, this, []); } }.toString);
  // As functions of the script's kind each step of an iteration is looked at.
  const stepping = (made) => {
    const steps = getPrototypeOf(made), { next } = steps;
    replace(steps, "next", { next() { return apply(next, this, []); } }.next);
  };
  stepping(arrays.values());
  stepping(""[iterator]());

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
  JSON.parse = paying(parse, "parse");

  // The engine calls it for templates.
  strings.concat = paying(strings.concat, "concat");

  // What `r` needs of it.
  const toWellFormed = paying(strings.toWellFormed), { toString: textOf } = Function.prototype;
  const { stringify: written } = JSON, { fields, request: { putBody } } = kept;
  const setObject = (answer, value) => {
    if (typeof value !== "object" || value === null || value instanceof Promise || kept.bytesExist) {
      return fields().setBody(answer, value);
    }
    // There are no bytes yet, so it is none.
    const json = written(value);
    if (json === undefined) throw new TypeError("the body cannot be written as JSON");
    return putBody(answer, json);
  };
  Object.assign(kept, {
    bounded: true, setObject,
    functionText: (f) => apply(textOf, f, []),
    text: (value) => apply(toWellFormed, String(value), []),
    apply, arrays, copied, defineProperty, getPrototypeOf, hide, isArray, iterator, join, limit, list, now, ofList, paid, pay,
    paying, replace, short, stepping, strings, ELEMENTS, JSON, String,
  });
})
