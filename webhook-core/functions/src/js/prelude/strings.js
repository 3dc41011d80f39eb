// Bounds the functions of texts that need more than to be paid for, where a source can come to one of them; as in
// `guard`. Answers what does it for one.
(function ($, kept) {
  "use strict";
  const { apply, exec, isObject, limit, list, locales, longTexts, max, paid, patterns, replace, stepping, strings,
    textNatives, CHUNK, SEARCH, String } = kept;
  const { RegExp, Symbol, TypeError } = globalThis, { match: matching, replace: replacing, split: splitting } = Symbol;
  textNatives();
  const { indexOf, includes, lastIndexOf } = kept.texts;

  const written = (self) => {
    if (self === undefined || self === null) throw new TypeError("not a string");
    return String(self);
  };
  const isPattern = (value) => {
    if (!isObject(value)) return false;
    const own = value[matching];
    return own === undefined ? RegExp !== undefined && value instanceof RegExp : !!own;
  };
  // The method of a pattern, or of what stands for one.
  const method = (value, key) => (isObject(value) ? value[key] ?? undefined : undefined);
  // The engine compares at each place anew; what could take long is done piece by piece, by the part for long texts.
  const searching = (key, native, answer) => ({
    [key](part, from = undefined) {
      const text = written(this);
      if (key === "includes" && isPattern(part)) throw new TypeError("regexp not supported");
      part = String(part);
      if (text.length * part.length <= SEARCH) return paid(native, text, [part, from]);
      return answer(longTexts().search(text, part, +from));
    },
  });
  const searchingBack = () => ({
    lastIndexOf(part, from = undefined) {
      const text = written(this);
      part = String(part);
      from = +from;
      if (text.length * part.length <= SEARCH) return paid(lastIndexOf, text, [part, from]);
      return longTexts().lastIndexOf(text, part, from);
    },
  });
  const splittingBy = (split) => ({
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
  });
  const replacingIn = (key, native, all) => ({
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
        // The engine goes on to the last match when the memory is used up.
        if (replacement.length * matches > CHUNK) return longTexts().replaced(text, part, replacement, all);
      }
      if (text.length * part.length <= SEARCH) return paid(native, text, [part, replacement]);
      return longTexts().replaced(text, part, replacement, all);
    },
  });
  const matchingIn = (key, native, flags) => ({
    [key](given) {
      if (typeof given !== "object" || given === null) {
        given = new (patterns()())(given === undefined ? "(?:)" : given, flags);
      }
      return paid(native, this, [given]);
    },
  });
  const raw = () => ({
    raw(parts, ...values) {
      let text = "";
      const raw = list(parts.raw);
      for (let i = 0; i < raw.length; i++) text += i > 0 && i <= values.length ? values[i - 1] + raw[i] : raw[i];
      return text;
    },
  });
  // One step takes the longer the more marks there are on one letter.
  let marks;
  kept.composed = (text) => {
    if (text.length > 256 && apply(exec, (marks ??= /\p{M}{256}/u), [text])) throw limit("256 combining marks in a row");
    return text;
  };
  const bounded = (owner, key) => {
    const native = owner[key];
    switch (key) {
      case "indexOf": return searching(key, indexOf, (at) => at);
      case "includes": return searching(key, includes, (at) => at >= 0);
      case "lastIndexOf": return searchingBack();
      case "split": return splittingBy(native);
      case "replace": return replacingIn(key, native, false);
      case "replaceAll": return replacingIn(key, native, true);
      case "matchAll":
        stepping(apply(native, "", [/x/g]));
        return matchingIn(key, native, "g");
      case "match": case "search": return matchingIn(key, native, "");
      case "normalize": return { normalize(form) { return paid(native, kept.composed(String(this)), arguments); } };
      case "raw": return raw();
      case "localeCompare": return { localeCompare(other) { return apply(locales().localeCompare, this, arguments); } };
      default: return { [key]() { return apply(locales()[key], this, arguments); } };
    }
  };
  return (owner, key) => replace(owner, key, bounded(owner, key)[key]);
})
