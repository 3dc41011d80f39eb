// Bounds the functions of lists that need more than to be paid for, where a source can come to one of them; as in
// `guard`. Answers what does it for one.
(function ($, kept) {
  "use strict";
  const { apply, arrays, copied, isArray, iterator, list, log2, max, min, now, ofArray, ofList, paid, pay, replace, short,
    trunc, LONG, SORTED, String } = kept;
  const { isConcatSpreadable } = Symbol;

  // Equal texts are compared to their end, and there may be a reference to one in each place.
  const same = (text, other) => {
    if (typeof other !== "string" || other.length !== text.length) return false;
    const since = now();
    try { return text === other; } finally { pay(since); }
  };
  const looking = (key, look) => {
    const f = arrays[key];
    return {
      [key](text) {
        const own = list(this);
        if (typeof text !== "string" || text.length < LONG) return paid(f, own, arguments);
        return look(text, own, arguments.length > 1 ? trunc(+arguments[1]) || 0 : undefined, own.length);
      },
    };
  };
  const first = (text, own, from = 0, length = 0) => {
    for (let i = from < 0 ? max(0, length + from) : from; i < length; i++) if (same(text, own[i])) return i;
    return -1;
  };
  const last = (text, own, from, length) => {
    from ??= length - 1;
    for (let i = from < 0 ? length + from : min(from, length - 1); i >= 0; i--) if (same(text, own[i])) return i;
    return -1;
  };
  // With a function for each comparison the engine looks at the limits at each.
  const inOrder = (a, b) => {
    a = String(a);
    b = String(b);
    const since = now();
    try { return a < b ? -1 : a > b ? 1 : 0; } finally { pay(since); }
  };
  const sorting = (key, check) => {
    const f = arrays[key];
    return {
      [key](compare) {
        const own = check(arguments, this, f);
        if (compare === undefined) {
          let longest = 0;
          for (let i = 0; i < own.length; i++) if (typeof own[i] === "string") longest = max(longest, own[i].length);
          if (own.length * log2(own.length + 1) * (1 + longest / 32) > SORTED) compare = inOrder;
        }
        return paid(f, own, [compare]);
      },
    };
  };
  const flatten = (from, depth, into) => {
    for (let i = 0; i < from.length; i++) {
      if (!(i in from)) continue;
      const item = from[i];
      if (depth > 0 && isArray(item)) flatten(item, depth - 1, into);
      else into[into.length] = item;
    }
    return into;
  };
  const bounded = (owner, key) => {
    const native = owner[key];
    switch (key) {
      case "push": return { push(item) { return apply(native, ofArray(arguments, this, native), arguments); } };
      case "pop": return { pop() { return apply(native, ofArray(arguments, this, native), arguments); } };
      case "indexOf": return looking(key, first);
      case "includes": return looking(key, (text, own, from, length) => first(text, own, from, length) >= 0);
      case "lastIndexOf": return looking(key, last);
      case "sort": return sorting(key, ofArray);
      case "toSorted": return sorting(key, ofList);
      case "flat": return { flat(depth = 1) { return flatten(list(this), +depth || 0, []); } };
      case "concat": return {
        concat(item) {
          const args = arguments;
          for (let i = 0; i < args.length; i++) {
            const arg = args[i];
            if (typeof arg !== "object" || arg === null) continue;
            if (isArray(arg)) short(arg);
            else args[i] = arg[isConcatSpreadable] ? copied(arg) : [arg];
          }
          return paid(native, list(this), args);
        },
      };
      case "from": return {
        from(given) {
          if (given !== undefined && given !== null && given[iterator] === undefined) arguments[0] = copied(given);
          return apply(native, this, arguments);
        },
      };
    }
  };
  return (owner, key) => replace(owner, key, bounded(owner, key)[key]);
})
