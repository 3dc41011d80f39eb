// What depends on a language or a country. The order of texts is right where it is answered; everything else
// says that it is not there, because the engine itself would answer for no country or for the wrong one.
// Made when a script first asks for something of it; what needs none of this to be refused is in the guard.
(function ($, kept) {
  "use strict";
  const { apply, Proxy, String, ENDS } = kept;
  const { TypeError, Object } = globalThis;
  const { stringify } = JSON, { slice, indexOf, toLowerCase, toUpperCase, charCodeAt, normalize } = String.prototype;

  const Intl = new Proxy(Object.create(null), {
    __proto__: null,
    get: (_, name) => {
      if (typeof name !== "string") return undefined;
      throw new TypeError("Intl." + name + " is not available: " + ENDS);
    },
  });

  const languageOf = (locales, what) => {
    const first = typeof locales === "object" && locales !== null ? locales[0] : locales;
    if (first === undefined) return "und";
    const tag = apply(toLowerCase, String(first), []), dash = apply(indexOf, tag, ["-"]);
    if (apply(indexOf, tag, ["-u-"]) >= 0 || tag === "fr-ca") {
      throw new TypeError(what + ": the locale \"" + first + "\" is not available");
    }
    return dash < 0 ? tag : apply(slice, tag, [0, dash]);
  };
  // Their letters change in ways of their own.
  const letters = (key, change) => function (locales) {
    const language = languageOf(locales, key);
    if (language === "az" || language === "lt" || language === "tr" || language === "el") {
      throw new TypeError(key + ": the locale \"" + language + "\" is not available");
    }
    return apply(change, this, []);
  };
  const toLocaleLowerCase = letters("toLocaleLowerCase", toLowerCase);
  const toLocaleUpperCase = letters("toLocaleUpperCase", toUpperCase);

  // The order of the Unicode Collation Algorithm as CLDR has it for these languages, of Latin letters with accents.
  const LANGUAGES = { __proto__: null, und: 1, en: 1, de: 1, es: 1, fr: 1, it: 1, nl: 1, pt: 1 };
  const SIGNS = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789", NINE = SIGNS.length - 1;
  const MARKS = { // By how much a text is behind the same one without them.
    __proto__: null, "\u0301": 1, "\u0300": 2, "\u0306": 3, "\u0302": 4, "\u030c": 5, "\u030a": 6, "\u0308": 7,
    "\u030b": 8, "\u0303": 9, "\u0307": 10, "\u0327": 11, "\u0328": 12, "\u0304": 13,
  };
  const SENSITIVITY = { __proto__: null, base: 1, accent: 2, case: 3, variant: 4 };
  const weights = (text, spanish, numeric) => {
    const first = [], second = [], third = [], from = apply(normalize, text, ["NFD"]);
    for (let i = 0; i < from.length; i++) {
      const c = from[i], code = apply(charCodeAt, from, [i]), lower = code | 32;
      if (lower >= 97 && lower <= 122) {
        // Room for ñ.
        let weight = 1000 + 2 * lower;
        if (spanish && lower === 110 && from[i + 1] === "\u0303") { weight++; i++; }
        first[first.length] = weight;
        second[second.length] = 0;
        third[third.length] = code < 97 ? 1 : 0;
        continue;
      }
      const mark = MARKS[c];
      if (mark !== undefined && i > 0) {
        second[second.length] = mark;
        continue;
      }
      const sign = apply(indexOf, SIGNS, [c]);
      if (sign < 0) throw new TypeError("localeCompare: the order of " + stringify(c) + " is not available; compare with < and >");
      if (numeric && sign > NINE - 10) {
        // Its length and then its digits, without the zeros before them.
        while (from[i] === "0" && from[i + 1] >= "0" && from[i + 1] <= "9") i++;
        let end = i;
        while (from[end] >= "0" && from[end] <= "9") end++;
        first[first.length] = NINE;
        first[first.length] = end - i;
        for (; i < end; i++) first[first.length] = +from[i];
        i--;
      } else {
        first[first.length] = sign;
      }
      second[second.length] = 0;
      third[third.length] = 0;
    }
    return [first, second, third];
  };
  const order = (a, b) => {
    const shorter = a.length < b.length ? a.length : b.length;
    for (let i = 0; i < shorter; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
    return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
  };
  function localeCompare(other, locales, options) {
    if (this === undefined || this === null) throw new TypeError("not a string");
    const a = String(this), b = String(other), language = languageOf(locales, "localeCompare");
    if (!(language in LANGUAGES)) {
      throw new TypeError("localeCompare: the locale \"" + language + "\" is not available: en, de, es, fr, it, nl, pt");
    }
    const { numeric = false, sensitivity = "variant", usage, ignorePunctuation, caseFirst } = options ?? {};
    const level = SENSITIVITY[sensitivity];
    if (level === undefined || usage === "search" || ignorePunctuation || (caseFirst ?? "false") !== "false") {
      throw new TypeError("localeCompare: of the options numeric and sensitivity are available");
    }
    if (a === b) return 0;
    const one = weights(a, language === "es", numeric), two = weights(b, language === "es", numeric);
    return order(one[0], two[0]) || (level !== 1 && level !== 3 && order(one[1], two[1])) ||
      (level > 2 && order(one[2], two[2])) || 0;
  }
  return { __proto__: null, Intl, localeCompare, toLocaleLowerCase, toLocaleUpperCase };
})
