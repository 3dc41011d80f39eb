// Bytes and lists of numbers, made when a script first names one of them or gets one; as in `collections`.
(function ($, kept) {
  "use strict";
  const { paid, paying, payAll, replace, only, constructor, hide, short, copied, isObject, natives, iterator } = kept;
  const { getPrototypeOf, isArray, log2, SORTED } = kept;
  kept.bytesExist = true;
  const { ArrayBuffer, DataView, Uint8Array } = natives, { isView } = ArrayBuffer;
  const bytes = Uint8Array.prototype, typed = getPrototypeOf(bytes), general = getPrototypeOf(Uint8Array);

  // What is only like an array is copied by a loop here as well.
  const elements = (args, self) => {
    const given = args[0];
    if (isArray(given)) short(given);
    else if (isObject(given) && !isView(given) && given.length !== undefined && (given[iterator] ?? undefined) === undefined) {
      args[0] = copied(given);
    }
    return self;
  };
  const ofElements = (args, self) => short(self);
  payAll(general, undefined, { __proto__: null, from: elements });
  payAll(typed, only("at", "subarray", "keys", "values", "entries", iterator, "toString", "sort", "toSorted"),
    { __proto__: null, set: elements, join: ofElements, toLocaleString: ofElements });
  hide(typed, iterator, typed.values);
  hide(typed, "toString", kept.listText);
  const ascending = (a, b) => {
    if (a < b) return -1;
    if (a > b) return 1;
    if (a !== a) return b !== b ? 0 : 1;
    if (b !== b) return -1;
    return a === 0 && b === 0 ? (1 / a < 1 / b ? -1 : 1 / a > 1 / b ? 1 : 0) : 0;
  };
  // With a function for each comparison the engine looks at the limits at each.
  const sorting = (key) => {
    const f = typed[key];
    replace(typed, key, {
      [key](compare) {
        const own = short(this);
        if (compare === undefined && own.length * log2(own.length + 1) > 2 * SORTED) compare = ascending;
        return paid(f, own, [compare]);
      },
    }[key]);
  };
  sorting("sort");
  sorting("toSorted");
  payAll(Uint8Array);
  payAll(bytes);
  payAll(ArrayBuffer.prototype);
  delete DataView.prototype.getBigInt64;
  delete DataView.prototype.getBigUint64;
  delete DataView.prototype.setBigInt64;
  delete DataView.prototype.setBigUint64;

  const made = { __proto__: null, ArrayBuffer: constructor(ArrayBuffer), DataView: constructor(DataView) };
  for (const name in natives) {
    const real = natives[name];
    if (getPrototypeOf(real) === general) made[name] = constructor(real, elements);
  }
  return made;
})
