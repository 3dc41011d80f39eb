// The globals of a script: r, cfg and console. Leaves in `kept` the function
// that takes over what `transform(r)` returned, and what other parts need as well.
(function ($, kept) {
  "use strict";
  const { Proxy, String, apply } = kept;
  const { Object, JSON, TypeError, Error, Uint8Array, ArrayBuffer, Promise } = globalThis;
  const { defineProperty, getPrototypeOf, ownKeys, set } = Reflect;
  const { isArray } = Array, { isView } = ArrayBuffer, { stringify } = JSON;
  const { keys, freeze, getOwnPropertyDescriptor } = Object;
  const { toWellFormed, toLowerCase } = String.prototype, { toBase64 } = Uint8Array.prototype;
  const { join } = Array.prototype, { toString } = Object.prototype;
  const typeOf = getOwnPropertyDescriptor(getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get;

  const plain = () => Object.create(null);
  const text = (value) => apply(toWellFormed, String(value), []);
  // The bytes of a body or undefined, when it is text.
  const bytes = (value) => {
    if (apply(typeOf, value, []) === "Uint8Array") return apply(toBase64, value, []);
    if (isView(value)) return apply(toBase64, new Uint8Array(value.buffer, value.byteOffset, value.byteLength), []);
    if (apply(toString, value, []) === "[object ArrayBuffer]") return apply(toBase64, new Uint8Array(value), []);
    return undefined;
  };
  const shown = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof Error) return value.name + ": " + value.message;
    if (typeof value === "object" && value !== null) {
      try { return stringify(value) ?? String(value); } catch { return apply(toString, value, []); }
    }
    return String(value);
  };
  const pairs = (flat, add) => {
    const object = plain();
    for (let i = 0; i + 1 < flat.length; i += 2) add(object, flat[i], flat[i + 1]);
    return freeze(object);
  };

  // Headers by their names in any case; the first value of each.
  const headers = (answer) => new Proxy(plain(), {
    get: (_, name) => (typeof name === "string" ? $.header(answer, text(name)) ?? undefined : undefined),
    has: (_, name) => typeof name === "string" && typeof $.header(answer, text(name)) === "string",
    set: (_, name, value) => (setHeader(answer, name, value), true),
    deleteProperty: (_, name) => ($.deleteHeader(answer, text(name)), true),
    defineProperty: (_, name, { value }) => (setHeader(answer, name, value), true),
    ownKeys: () => $.headerNames(answer),
    getOwnPropertyDescriptor: (_, name) => {
      const value = typeof name === "string" ? $.header(answer, text(name)) : undefined;
      return typeof value === "string" ? { value, writable: true, enumerable: true, configurable: true } : undefined;
    },
    setPrototypeOf: () => false,
    preventExtensions: () => false,
  });
  const setHeader = (answer, name, value) => {
    if (value === undefined || value === null) return $.deleteHeader(answer, text(name));
    $.setHeader(answer, text(name), text(isArray(value) ? apply(join, value, [", "]) : value));
  };
  const setHeaders = (answer, given) => {
    if (given === views[+answer]) return;
    if (typeof given !== "object" || given === null) throw new TypeError("headers must be an object");
    const names = keys(given), values = [];
    for (let i = 0; i < names.length; i++) values[i] = given[names[i]];
    const old = $.headerNames(answer);
    for (let i = 0; i < old.length; i++) $.deleteHeader(answer, old[i]);
    for (let i = 0; i < names.length; i++) setHeader(answer, names[i], values[i]);
  };
  const views = [headers(false), headers(true)];

  // Bodies are made when they are read. One that is set to what was read stays
  // byte for byte as it came.
  const read = [undefined, undefined];
  const body = (answer) => (read[+answer] ??= $.body(answer) ?? undefined);
  const setBody = (answer, value) => {
    if (typeof value === "string" && value === read[+answer]) return;
    if (typeof value === "object" && value !== null) {
      if (value instanceof Promise) throw new TypeError("a body cannot be a promise: await it");
      const raw = bytes(value), json = raw === undefined ? stringify(value) : undefined;
      if (raw !== undefined) $.setBytes(answer, raw);
      else if (json !== undefined) $.setBody(answer, text(json));
      else throw new TypeError("the body cannot be written as JSON");
    } else if (value === undefined || value === null || typeof value === "function") {
      throw new TypeError("a body must be a text, bytes or an object, not " + (value === null ? value : typeof value));
    } else {
      $.setBody(answer, text(value));
    }
    read[+answer] = undefined;
    if (!answer) form = parts = undefined;
  };

  let query, form, parts, metadata, checks;
  // What is not UTF-8 comes as bytes.
  const readParts = () => {
    const flat = $.form(), list = [];
    for (let i = 0; i + 3 < flat.length; i += 4) {
      const value = flat[i + 3], part = { name: flat[i], fileName: flat[i + 1] ?? undefined, type: flat[i + 2] ?? undefined };
      defineProperty(part, "value", { value });
      defineProperty(part, "bytes", { get: () => (typeof value === "string" ? $.utf8(value) : value), enumerable: true });
      list[list.length] = freeze(part);
    }
    return freeze(list);
  };
  const readForm = () => {
    const all = plain(), list = (parts ??= readParts());
    for (let i = 0; i < list.length; i++) {
      const values = (all[list[i].name] ??= []);
      values[values.length] = list[i].value;
    }
    return freeze(all);
  };
  const fields = {
    body: [() => body(false), (value) => setBody(false, value), "RequestBody"],
    bodyBytes: [() => $.bytes(false), (value) => setBody(false, value)],
    method: [() => $.method(), (value) => $.setMethod(text(value)), "RequestMethod"],
    path: [() => $.path(), (value) => $.setPath(text(value)), "RequestPath"],
    rawQuery: [
      () => $.rawQuery(),
      (value) => { $.setRawQuery(text(value)); query = undefined; },
      "RequestRawQuery",
    ],
    headers: [() => views[0], (value) => setHeaders(false, value), "RequestHeader"],
    query: [() => (query ??= pairs($.query(), (o, k, v) => { if (!(k in o)) o[k] = v; })), undefined, "RequestQuery"],
    formData: [() => (form ??= readForm()), undefined, "RequestFormData"],
    formParts: [() => (parts ??= readParts()), undefined, "RequestFormParts"],
    metadata: [() => (metadata ??= pairs($.metadata(), (o, k, v) => { o[k] = v; })), undefined, "Metadata"],
    verified: [() => (checks ??= $.checks())[0] ?? undefined, undefined, "Verified"],
    eventType: [() => (checks ??= $.checks())[1] ?? undefined, undefined, "EventType"],
    duplicateOf: [() => (checks ??= $.checks())[2] ?? undefined, undefined, "DuplicateOf"],
    responseBody: [() => body(true), (value) => setBody(true, value), "ResponseBody"],
    responseBodyBytes: [() => $.bytes(true) ?? undefined, (value) => setBody(true, value)],
    responseStatus: [() => $.status() ?? undefined, (value) => $.setStatus(+value), "ResponseStatusCode"],
    responseHeaders: [() => views[1], (value) => setHeaders(true, value), "ResponseHeader"],
  };
  const methods = {
    setBody: (value) => { own.body = value; },
    setMethod: (value) => { own.method = value; },
    setPath: (value) => { own.path = value; },
    setRawQuery: (value) => { own.rawQuery = value; },
    setHeader: (name, value) => setHeader(false, name, value),
    deleteHeader: (name) => $.deleteHeader(false, text(name)),
    setResponseBody: (value) => { own.responseBody = value; },
    setResponseStatus: (value) => { own.responseStatus = value; },
    setResponseHeader: (name, value) => setHeader(true, name, value),
    stopForwarding: () => $.stop(),
  };
  const lua = {
    setBody: "SetRequestBody", setMethod: "SetRequestMethod", setPath: "SetRequestPath",
    setRawQuery: "SetRequestRawQuery", setHeader: "SetRequestHeader", deleteHeader: "DeleteRequestHeader",
    setResponseBody: "SetResponseBody", setResponseStatus: "SetResponseStatusCode",
    setResponseHeader: "SetResponseHeader", stopForwarding: "StopForwarding",
  };
  const own = {}, settable = [], fixed = [];
  const readOnly = (name) => () => { throw new TypeError("r." + name + " cannot be set"); };
  for (const name of keys(fields)) {
    const [get, set, other] = fields[name];
    defineProperty(own, name, { get, set: set ?? readOnly(name), enumerable: true });
    if (other) defineProperty(own, other, { get, set: set ?? readOnly(other), enumerable: false });
    if (!set) fixed[fixed.length] = name;
    if (!set) continue;
    settable[settable.length] = name;
    if (other) settable[settable.length] = other;
  }
  for (const name of keys(methods)) {
    defineProperty(own, name, { value: methods[name], enumerable: true });
    defineProperty(own, lua[name], { value: methods[name], enumerable: false });
  }
  // Who takes r for the payload is told so, or what they remove would be sent.
  const unknown = (name) => {
    throw new TypeError("r has no field \"" + String(name) + "\" (the payload is JSON.parse(r.body))");
  };
  // Looked for by the language itself: in what is awaited, and in what is written as JSON.
  const optional = (name) => typeof name !== "string" || name === "then" || name === "toJSON";
  const r = new Proxy(own, {
    get: (_, name) => (name in own ? own[name] : optional(name) ? undefined : unknown(name)),
    set: (_, name, value) => {
      if (!(name in own)) unknown(name);
      if (!set(own, name, value)) readOnly(name)();
      return true;
    },
    deleteProperty: (_, name) => {
      if (!(name in own)) unknown(name);
      throw new TypeError("r." + String(name) + " cannot be deleted");
    },
  });

  const cfg = freeze({
    get: (key) => $.config(text(key)) ?? undefined,
    GetValue: (key) => $.config(text(key)) ?? undefined,
  });
  const print = (...values) => {
    for (let i = 0; i < values.length; i++) values[i] = shown(values[i]);
    $.log(text(apply(join, values, [" "])));
  };
  const console = { log: print, info: print, debug: print, warn: print, error: print };
  const put = (name, value) =>
    defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
  const env = new Proxy(plain(), {
    get: (_, name) => (typeof name === "string" ? $.config(text(name)) ?? undefined : undefined),
    has: (_, name) => typeof name === "string" && typeof $.config(text(name)) === "string",
  });
  put("cfg", cfg);
  put("console", console);
  put("process", { env });
  let used = false;
  defineProperty(globalThis, "r", {
    get: () => { used = true; return r; },
    set: (value) => { put("r", value); },
    enumerable: false, configurable: true,
  });

  // Headers of an answer to a request, by their names in any case.
  kept.headersOf = (given) => {
    const lower = plain(), names = keys(given);
    for (let i = 0; i < names.length; i++) lower[apply(toLowerCase, names[i], [])] = given[names[i]];
    return new Proxy(given, {
      get: (_, name) => (typeof name === "string" ? lower[apply(toLowerCase, name, [])] : undefined),
      has: (_, name) => typeof name === "string" && apply(toLowerCase, name, []) in lower,
    });
  };
  kept.text = text;
  kept.bytes = bytes;
  kept.plain = plain;
  kept.setHeader = setHeader;
  kept.r = r;

  const names = plain();
  for (const name of ownKeys(own)) names[name] = true;
  const same = (a, b) => a === b || stringify(a) === stringify(b);
  // Takes over the fields in which `returned` differs from r.
  kept.taken = (returned) => {
    if (returned === r || returned === undefined || returned === null) return;
    if (typeof returned !== "object") {
      throw new TypeError("transform must return r or an object with its fields, not a " + typeof returned);
    }
    const given = keys(returned);
    for (let i = 0; i < given.length; i++) {
      if (!(given[i] in names)) {
        throw new TypeError("transform returned \"" + given[i] + "\", which is no field of r (a new payload is { body: … })");
      }
    }
    const changes = [], changed = [false, false];
    for (let i = 0; i < settable.length; i++) {
      const name = settable[i], answer = +(name === "responseBody" || name === "ResponseBody");
      if (name === "bodyBytes" || name === "responseBodyBytes" || !(name in returned)) continue;
      const value = returned[name];
      if (value === own[name]) continue;
      changes[changes.length] = [name, value];
      if (answer || name === "body" || name === "RequestBody") changed[answer] = true;
    }
    // A copy of r has both: the body counts where it is another one.
    for (let answer = 0; answer < 2; answer++) {
      const name = answer ? "responseBodyBytes" : "bodyBytes", value = changed[answer] ? undefined : returned[name];
      if (value === undefined || value === null) continue;
      const given = bytes(value), had = own[name];
      if (had === undefined || given !== bytes(had)) changes[changes.length] = [name, value];
    }
    for (let i = 0; i < fixed.length; i++) {
      if (fixed[i] in returned && !same(returned[fixed[i]], own[fixed[i]])) readOnly(fixed[i])();
    }
    for (let i = 0; i < changes.length; i++) own[changes[i][0]] = changes[i][1];
  };

  // What the end of a script calls with what the script declares, and what takes over the result.
  const { toString: functionText } = Function.prototype;
  let added, take = kept.taken;
  put("addHandler", (event, handler) => {
    if (event !== "transform" || typeof handler !== "function") {
      throw new TypeError("addHandler takes \"transform\" and a function");
    }
    added = handler;
  });
  kept.declared = (transform, handler) => {
    if (!added && transform && !$.takesPayload(apply(functionText, transform, []))) return transform(r);
    if (added || transform || (handler && !used)) {
      return $.part("styles")($, kept)(added, transform, handler, (f) => { take = f; });
    }
    if (!used && $.onlyDeclares()) {
      throw new TypeError("the script declares functions and does nothing with the webhook: use r, or declare " +
        "transform(r), transform(payload), handler(webhook) or addHandler(\"transform\", …)");
    }
    return undefined;
  };
  kept.finish = (returned) => take(returned);

  // What is made when a script first names it.
  const lazily = (make, all) => {
    let made;
    for (let i = 0; i < all.length; i++) {
      const name = all[i];
      defineProperty(globalThis, name, {
        get: () => (made ??= make())[name], set: (value) => { put(name, value); }, enumerable: false, configurable: true,
      });
    }
  };
  let opened;
  const modules = () => (opened ??= $.part("modules")($, kept));
  lazily(modules, ["http", "crypto", "base64", "hex", "url", "jwt", "xml", "yaml", "csv", "kv", "time"]);
  lazily(() => { modules(); return $.part("web")($, kept); }, ["URL", "URLSearchParams", "TextEncoder", "TextDecoder",
    "Headers", "atob", "btoa", "structuredClone", "fetch"]);
})
