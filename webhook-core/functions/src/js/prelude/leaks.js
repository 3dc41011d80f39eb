// What a script means as a redaction and would do nothing: fields of a text. A text has none to be set, and that of a body none
// to be read or removed: the fields are those of its JSON. Made when a script first reads a body or deletes a field; in an
// engine without the guard no script has spoilt what is used here.
(function ($, kept, read) {
  "use strict";
  const { Array, Object, Reflect, TypeError } = kept.engine ?? globalThis, Proxy = kept.Proxy ?? globalThis.Proxy;
  const { apply, get: getFrom, set: setIn } = Reflect, { isArray } = Array, strings = Object.getPrototypeOf(""), { valueOf } = strings;

  const isPayload = (value) => typeof value === "string" && value !== "" &&
    (value === read.false || value === read.true || value === kept.payload);
  const meant = (text) => text === kept.payload ? "the payload is a text: JSON.parse it first" :
    "the body is a text: const body = JSON.parse(r.body), change body, and r.body = body";
  // A pattern such as `const { email } = text` makes an object of the text.
  const textOf = (value) => {
    try { return apply(valueOf, value, []); } catch { return undefined; }
  };
  const get = (all, name, value) => {
    const text = typeof value === "string" ? value : textOf(value);
    if (isPayload(text) && typeof name === "string" && name !== "then" && name !== "toJSON" && !(+name >= 0) && !(name in all)) {
      throw new TypeError("a text has no field \"" + name + "\"; " + meant(text));
    }
    return getFrom(all, name, value);
  };
  const set = (all, name, to, value) => {
    if (typeof value !== "string") return setIn(all, name, to, value);
    const why = isPayload(value) ? "; " + meant(value) : "";
    throw new TypeError("the field \"" + (typeof name === "string" ? name : "") + "\" of a text cannot be set" + why);
  };
  const { getPrototypeOf, setPrototypeOf } = Object, watched = new Proxy({}, { __proto__: null, get, set });
  const above = getPrototypeOf(strings);
  const watch = (on) => { setPrototypeOf(strings, on ? watched : above); };
  const check = (value) => {
    if (isPayload(value)) throw new TypeError("nothing can be deleted from a text; " + meant(value));
    if (isArray(value) && value === kept.payload) throw new TypeError("the payload is a list: delete from its elements");
    return value;
  };
  return { __proto__: null, check, watch };
})
