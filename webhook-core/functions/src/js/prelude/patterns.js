// Bounds patterns, where a source may have one; as in `guard`. Every match goes through `exec`, where its steps are
// counted. Answers what makes the constructor.
(function ($, kept) {
  "use strict";
  const { apply, constructor, exec, limit, longTexts, now, paid, pay, replace, textNatives, String } = kept;
  const { RegExp, Symbol } = globalThis, { replace: replacing } = Symbol, { beginPattern, endPattern } = $;
  textNatives();
  // TEMPLATE: of a replacement that the engine looks through at each match.
  const { includes } = kept.texts, PATTERN = 1 << 13, TEMPLATE = 1 << 8, REPEATED = 1 << 16;

  // One step may compare as much as a group has matched.
  const { get: source } = kept.natives.Reflect.getOwnPropertyDescriptor(RegExp.prototype, "source");
  const repeats = /(?:^|[^\\])(?:\\\\)*\\[1-9k]/;
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
  let made;
  return () => (made ??= constructor(RegExp, pattern));
})
