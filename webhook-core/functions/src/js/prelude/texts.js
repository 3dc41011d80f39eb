// Searches and replacements in texts so long that the engine would take too long for them in one step, made when a
// script first has one; as in `collections`.
(function ($, kept) {
  "use strict";
  const { apply, paid, CHUNK, LONG, String, texts: { indexOf, includes, lastIndexOf: lastPlace, slice, join } } = kept;
  const { max, min, floor, trunc } = kept;

  // The engine compares at each place anew: so many at a time that one step is short.
  const places = (text, part, from, visit) => {
    const step = max(1, floor(CHUNK / part.length));
    for (let base = from; base + part.length <= text.length; base += step) {
      if (from >= base + step) continue;
      const piece = apply(slice, text, [base, base + step + part.length - 1]);
      for (let at = max(0, from - base); at < step;) {
        const place = paid(indexOf, piece, [part, at]);
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
  const lastIndexOf = (text, part, from) => {
    const step = max(1, floor(CHUNK / part.length));
    let last = text.length - part.length;
    if (from === from) last = min(last, max(0, trunc(from)));
    for (; last >= 0; last -= step) {
      const base = max(0, last - step + 1);
      const place = paid(lastPlace, apply(slice, text, [base, last + part.length]), [part]);
      if (place >= 0) return base + place;
    }
    return -1;
  };
  const split = (text, separator, most) => {
    const parts = [];
    if (most === 0) return parts;
    let from = 0;
    places(text, separator, 0, (at) => {
      parts[parts.length] = apply(slice, text, [from, at]);
      from = at + separator.length;
      return parts.length < most;
    });
    if (parts.length < most) parts[parts.length] = apply(slice, text, [from]);
    return parts;
  };
  // A replacement with `$` as a function: the engine would look through it at each match.
  const templated = (template) => (matched, ...given) => {
    let count = given.length, groups = given[count - 1];
    if (typeof groups === "string") groups = undefined;
    else count--;
    const text = given[count - 1], position = given[count - 2], captures = count - 2;
    let made = "", from = 0;
    for (;;) {
      const start = paid(indexOf, template, ["$", from]);
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
        const close = paid(indexOf, template, [">", end]);
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
  const replaced = (text, part, replacement, all) => {
    if (typeof replacement === "string" && paid(includes, replacement, ["$"])) replacement = templated(replacement);
    const pieces = [];
    let made = "", from = 0, size = 0;
    const replacing = (at) => {
      const put = typeof replacement === "string" ? replacement : String(apply(replacement, undefined, [part, at, text]));
      pieces[pieces.length] = apply(slice, text, [from, at]);
      pieces[pieces.length] = put;
      size += put.length + at - from;
      from = at + part.length;
      if (pieces.length > LONG || size > CHUNK) { made += apply(join, pieces, [""]); pieces.length = size = 0; }
      return all;
    };
    if (part !== "") places(text, part, 0, replacing);
    else for (let at = 0; at <= text.length && replacing(at); at++);
    return made + apply(join, pieces, [""]) + apply(slice, text, [from]);
  };
  return { __proto__: null, search, lastIndexOf, split, templated, replaced };
})
