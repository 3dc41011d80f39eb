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
  const { stringify, parse, rawJSON } = JSON, { is } = Object;
  // Numbers that do not keep their digits leave as they came. The texts of those in an object are in it, under a symbol, so
  // that copies like `{ ...object }` have them as well; for those that are put elsewhere there are `texts` by the value,
  // which is false where several of them read the same.
  const DIGITS = Symbol("digits"), WHOLE = 2 ** 53;
  let texts;
  kept.again[kept.again.length] = () => { texts = undefined; };
  const remember = (holder, key, value, source) => {
    const own = holder[DIGITS], name = is(value, -0) ? "-0" : String(value);
    if (own !== undefined) own[key] = source;
    else {
      const made = { __proto__: null, [key]: source };
      defineProperty(holder, DIGITS, { __proto__: null, value: made, enumerable: true, writable: true, configurable: true });
    }
    texts ??= { __proto__: null };
    // A whole number that is exact is the same without its text.
    if (value % 1 === 0 && value < WHOLE && value > -WHOLE) return;
    texts[name] = texts[name] === undefined || texts[name] === source ? source : false;
  };
  const reviving = (visit) => function (key, value, context) {
    if (typeof value === "number") {
      const { source } = context;
      if (source !== undefined && (source.length > 15 || source !== String(value))) remember(this, key, value, source);
    } else if (isArray(value)) {
      const own = value[DIGITS];
      if (own !== undefined) own.length = value.length;
    }
    return typeof visit === "function" ? apply(visit, this, [key, value, context]) : value;
  };
  const elsewhere = (value) => {
    const source = texts[String(value)];
    if (source !== false) return source;
    throw new TypeError("the number " + value + " stands for several numbers of the payload with other digits: copy the " +
      "object that has it ({ ...object }), or set a text");
  };
  // Elements of a list that was changed may have moved.
  const stays = (holder, own) => {
    if (!isArray(holder)) return true;
    if (own.length !== holder.length) return false;
    for (const key in own) if (key !== "length" && +own[key] !== holder[key]) return false;
    return true;
  };
  const exact = (holder, key, value) => {
    const own = holder[DIGITS], source = own?.[key];
    const here = source !== undefined && is(+source, value) && (texts[String(value)] !== false || stays(holder, own));
    const known = here ? source : elsewhere(value);
    return known === undefined ? value : rawJSON(known);
  };
  const numberText = (value) => (texts !== undefined && elsewhere(value)) || String(value);
  const visiting = (visit) => function (key, value) {
    if (isArray(value)) short(value);
    if (visit) value = apply(visit, this, [key, value]);
    return texts !== undefined && typeof value === "number" ? exact(this, key, value) : value;
  };
  replace(JSON, "parse", {
    parse(text, reviver) {
      const since = now();
      try {
        text = String(text);
        if (typeof reviver === "function") return parse(text, $.keepsDigits(text) ? reviver : reviving(reviver));
        const value = parse(text);
        return $.keepsDigits(text) ? value : parse(text, reviving());
      } finally { pay(since); }
    },
  }.parse);
  replace(JSON, "stringify", {
    stringify(value, replacer, space) {
      if (isArray(replacer)) {
        short(replacer);
        const whole = paid(stringify, JSON, [value, visiting()]);
        if (whole === undefined) return whole;
        const raw = (key, value, { source }) => typeof value === "number" && source !== String(value) ? rawJSON(source) : value;
        return paid(stringify, JSON, [parse(whole, raw), replacer, space]);
      }
      const visit = visiting(typeof replacer === "function" ? replacer : undefined);
      return paid(stringify, JSON, [value, visit, space]);
    },
  }.stringify);

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
    text: (value) => (typeof value === "number" ? numberText(value) : apply(toWellFormed, String(value), [])),
    apply, arrays, copied, defineProperty, getPrototypeOf, hide, isArray, iterator, join, limit, list, now, ofList, paid, pay,
    paying, replace, short, stepping, strings, ELEMENTS, JSON, String,
  });
})
