// What few scripts do with `r`, and the globals beside it, made when a script first does. Scripts may have spoilt the library
// by then: what is used is the guard's.
(function ($, kept) {
  "use strict";
  const { Proxy, String, apply, binary, defineProperty, getPrototypeOf, isArray, join, natives, paying, r, text } = kept;
  const { body, changed, methods, putBody, rest, seen, setBody: setText } = kept.request;
  const { Error, JSON, Object, Promise, TypeError, ownKeys, set, toStringTag } = kept.engine, { stringify } = JSON;
  const { Uint8Array, ArrayBuffer } = natives, { toString } = Object.prototype, { getOwnPropertyDescriptor } = Object;
  const keys = paying(kept.request.keys), freeze = paying(kept.request.freeze);

  const plain = () => ({ __proto__: null });
  // The bytes of a body or undefined, when it is text. A small engine has none.
  const ofBytes = () => {
    const { isView } = ArrayBuffer, bytes = Uint8Array.prototype, toBase64 = paying(bytes.toBase64);
    const typeOf = getOwnPropertyDescriptor(getPrototypeOf(bytes), toStringTag).get;
    return (value) => {
      if (apply(typeOf, value, []) === "Uint8Array") return apply(toBase64, value, []);
      if (isView(value)) return apply(toBase64, new Uint8Array(value.buffer, value.byteOffset, value.byteLength), []);
      if (apply(toString, value, []) === "[object ArrayBuffer]") return apply(toBase64, new Uint8Array(value), []);
      return undefined;
    };
  };
  const bytes = Uint8Array === undefined ? () => undefined : ofBytes();
  const shown = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof Error) return value.name + ": " + value.message;
    if (typeof value === "object" && value !== null) {
      try { return stringify(value) ?? String(value); } catch { return apply(toString, value, []); }
    }
    return typeof value === "number" ? text(value) : String(value);
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
    if (given === views(answer)) return;
    if (typeof given !== "object" || given === null) throw new TypeError("headers must be an object");
    const names = keys(given), values = [];
    for (let i = 0; i < names.length; i++) values[i] = given[names[i]];
    const old = $.headerNames(answer);
    for (let i = 0; i < old.length; i++) $.deleteHeader(answer, old[i]);
    for (let i = 0; i < names.length; i++) setHeader(answer, names[i], values[i]);
  };
  const made = [undefined, undefined], views = (answer) => (made[+answer] ??= headers(answer));

  const bytesOf = (answer) => {
    binary();
    return $.bytes(answer) ?? undefined;
  };
  // What is neither a text nor plainly an object.
  const setBody = (answer, value) => {
    if (typeof value === "string") return setText(answer, value);
    if (typeof value === "object" && value !== null) {
      if (value instanceof Promise) throw new TypeError("a body cannot be a promise: await it");
      const raw = bytes(value), json = raw === undefined ? stringify(value) : undefined;
      if (raw !== undefined) $.setBytes(answer, raw);
      else if (json !== undefined) $.setBody(answer, text(json));
      else throw new TypeError("the body cannot be written as JSON");
      return changed(answer);
    }
    if (value === undefined || value === null || typeof value === "function") {
      throw new TypeError("a body must be a text, bytes or an object, not " + (value === null ? value : typeof value));
    }
    putBody(answer, value);
  };

  let query, metadata, checks;
  kept.again[kept.again.length] = () => { made[0] = made[1] = query = metadata = checks = undefined; };
  // What is not UTF-8 comes as bytes.
  const readParts = () => {
    binary();
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
    const all = plain(), list = (seen.parts ??= readParts());
    for (let i = 0; i < list.length; i++) {
      const values = (all[list[i].name] ??= []);
      values[values.length] = list[i].value;
    }
    return freeze(all);
  };
  // What `r` has, its names in Lua included: a field that may be set (1) or not (2), a method (3), and the same
  // where it is not listed (5 to 7). Fields are read and methods made when they are named.
  const HIDDEN = 4, KINDS = {
    __proto__: null, body: 1, RequestBody: 5, bodyBytes: 1, method: 1, RequestMethod: 5, path: 1, RequestPath: 5,
    rawQuery: 1, RequestRawQuery: 5, headers: 1, RequestHeader: 5, query: 2, RequestQuery: 6, formData: 2,
    RequestFormData: 6, formParts: 2, RequestFormParts: 6, metadata: 2, Metadata: 6, verified: 2, Verified: 6,
    eventType: 2, EventType: 6, duplicateOf: 2, DuplicateOf: 6, responseBody: 1, ResponseBody: 5,
    responseBodyBytes: 1, responseStatus: 1, ResponseStatusCode: 5, responseHeaders: 1, ResponseHeader: 5,
    setBody: 3, SetRequestBody: 7, setMethod: 3, SetRequestMethod: 7, setPath: 3, SetRequestPath: 7, setRawQuery: 3,
    SetRequestRawQuery: 7, setHeader: 3, SetRequestHeader: 7, deleteHeader: 3, DeleteRequestHeader: 7,
    setResponseBody: 3, SetResponseBody: 7, setResponseStatus: 3, SetResponseStatusCode: 7, setResponseHeader: 3,
    SetResponseHeader: 7, stopForwarding: 3, StopForwarding: 7,
  };
  const readField = (name) => {
    switch (name) {
      case "body": case "RequestBody": return body(false);
      case "bodyBytes": return bytesOf(false);
      case "method": case "RequestMethod": return $.line("method");
      case "path": case "RequestPath": return $.line("path");
      case "rawQuery": case "RequestRawQuery": return $.line("rawQuery");
      case "headers": case "RequestHeader": return views(false);
      case "query": case "RequestQuery": return (query ??= pairs($.query(), (o, k, v) => { if (!(k in o)) o[k] = v; }));
      case "formData": case "RequestFormData": return (seen.form ??= readForm());
      case "formParts": case "RequestFormParts": return (seen.parts ??= readParts());
      case "metadata": case "Metadata": return (metadata ??= pairs($.metadata(), (o, k, v) => { o[k] = v; }));
      case "verified": case "Verified": return (checks ??= $.checks())[0] ?? undefined;
      case "eventType": case "EventType": return (checks ??= $.checks())[1] ?? undefined;
      case "duplicateOf": case "DuplicateOf": return (checks ??= $.checks())[2] ?? undefined;
      case "responseBody": case "ResponseBody": return body(true);
      case "responseBodyBytes": return bytesOf(true);
      case "responseStatus": case "ResponseStatusCode": return $.status() ?? undefined;
      case "responseHeaders": case "ResponseHeader": return views(true);
      default: return methods[name] ??= method(name);
    }
  };
  const readOnly = (name) => { throw new TypeError("r." + name + " cannot be set"); };
  const writeField = (name, value) => {
    switch (name) {
      case "body": case "RequestBody": case "bodyBytes": return setBody(false, value);
      case "method": case "RequestMethod": return $.setMethod(text(value));
      case "path": case "RequestPath": return $.setPath(text(value));
      case "rawQuery": case "RequestRawQuery":
        $.setRawQuery(text(value));
        query = undefined;
        return undefined;
      case "headers": case "RequestHeader": return setHeaders(false, value);
      case "responseBody": case "ResponseBody": case "responseBodyBytes": return setBody(true, value);
      case "responseStatus": case "ResponseStatusCode": return $.setStatus(+value);
      case "responseHeaders": case "ResponseHeader": return setHeaders(true, value);
      default: return readOnly(name);
    }
  };
  const method = (name) => {
    switch (name) {
      case "setBody": case "SetRequestBody": return (value) => writeField("body", value);
      case "setMethod": case "SetRequestMethod": return (value) => writeField("method", value);
      case "setPath": case "SetRequestPath": return (value) => writeField("path", value);
      case "setRawQuery": case "SetRequestRawQuery": return (value) => writeField("rawQuery", value);
      case "setHeader": case "SetRequestHeader": return (header, value) => setHeader(false, header, value);
      case "deleteHeader": case "DeleteRequestHeader": return (header) => $.deleteHeader(false, text(header));
      case "setResponseBody": case "SetResponseBody": return (value) => writeField("responseBody", value);
      case "setResponseStatus": case "SetResponseStatusCode": return (value) => writeField("responseStatus", value);
      case "setResponseHeader": case "SetResponseHeader": return (header, value) => setHeader(true, header, value);
      default: return () => $.stop();
    }
  };
  // Who takes r for the payload is told so, or what they remove would be sent.
  const unknown = (name) => {
    throw new TypeError("r has no field \"" + String(name) + "\" (the payload is JSON.parse(r.body))");
  };
  // Looked for by the language itself: in what is awaited, and in what is written as JSON.
  const optional = (name) => typeof name !== "string" || name === "then" || name === "toJSON";
  const get = (name) =>
    name in KINDS ? readField(name) : name in rest ? rest[name] : optional(name) ? undefined : unknown(name);
  const put = (name, value) => {
    if (name in KINDS) writeField(name, value);
    else if (!(name in rest)) unknown(name);
    else if (!set(rest, name, value)) readOnly(name);
  };
  const traps = {
    __proto__: null,
    has: (_, name) => name in KINDS || name in rest,
    ownKeys: () => {
      const all = keys(KINDS), own = ownKeys(rest);
      for (let i = 0; i < own.length; i++) all[all.length] = own[i];
      return all;
    },
    getOwnPropertyDescriptor: (_, name) => {
      if (!(name in KINDS)) return getOwnPropertyDescriptor(rest, name);
      const get = () => readField(name), set = (value) => writeField(name, value);
      return { __proto__: null, get, set, enumerable: KINDS[name] < HIDDEN, configurable: true };
    },
    defineProperty: (_, name, descriptor) => !(name in KINDS) && defineProperty(rest, name, descriptor),
    deleteProperty: (_, name) => {
      if (!(name in KINDS) && !(name in rest)) unknown(name);
      throw new TypeError("r." + String(name) + " cannot be deleted");
    },
    preventExtensions: () => false,
  };

  const setting = (key) => $.config(text(key)) ?? undefined;
  const print = (...values) => {
    for (let i = 0; i < values.length; i++) values[i] = shown(values[i]);
    $.log(text(apply(join, values, [" "])));
  };
  const addHandler = (event, handler) => {
    if (event !== "transform" || typeof handler !== "function") {
      throw new TypeError("addHandler takes \"transform\" and a function");
    }
    kept.added = handler;
  };
  const env = () => new Proxy(plain(), {
    __proto__: null,
    get: (_, name) => (typeof name === "string" ? setting(name) : undefined),
    has: (_, name) => typeof name === "string" && typeof $.config(text(name)) === "string",
  });
  // What a function of a style is given beside the webhook.
  const context = () => new Proxy({ __proto__: null, env: env() }, {
    __proto__: null,
    get: (all, name) => {
      if (typeof name !== "string" || name in all) return all[name];
      throw new TypeError("context." + name + " is not known here: r.metadata says whose webhook it is");
    },
  });
  // The globals by their names.
  const named = (name) => {
    switch (name) {
      case "cfg": return { __proto__: null, cfg: freeze({ get: setting, GetValue: setting }) };
      case "console":
        return { __proto__: null, console: { log: print, info: print, debug: print, warn: print, error: print } };
      case "process": return { __proto__: null, process: { env: env() } };
      case "$transform": return { __proto__: null, $transform: freeze({ fail: (why) => { throw new Error(text(why)); } }) };
      default: return { __proto__: null, addHandler };
    }
  };

  const same = (a, b) => a === b || stringify(a) === stringify(b);
  // Takes over the fields in which `returned` differs from r.
  const taken = (returned) => {
    if (returned === r || returned === undefined || returned === null) return;
    if (typeof returned !== "object") {
      throw new TypeError("transform must return r or an object with its fields, not a " + typeof returned);
    }
    const given = keys(returned);
    for (let i = 0; i < given.length; i++) {
      if (!(given[i] in KINDS)) {
        throw new TypeError("transform returned \"" + given[i] + "\", which is no field of r (a new payload is { body: … })");
      }
    }
    const changes = [], changed = [false, false], names = keys(KINDS);
    for (let i = 0; i < names.length; i++) {
      const name = names[i], answer = +(name === "responseBody" || name === "ResponseBody");
      if (KINDS[name] % HIDDEN !== 1 || name === "bodyBytes" || name === "responseBodyBytes") continue;
      if (!(name in returned)) continue;
      const value = returned[name];
      if (value === readField(name)) continue;
      changes[changes.length] = [name, value];
      if (answer || name === "body" || name === "RequestBody") changed[answer] = true;
    }
    // A copy of r has both: the body counts where it is another one.
    for (let answer = 0; answer < 2; answer++) {
      const name = answer ? "responseBodyBytes" : "bodyBytes", value = changed[answer] ? undefined : returned[name];
      if (value === undefined || value === null) continue;
      const given = bytes(value), had = readField(name);
      if (had === undefined || given !== bytes(had)) changes[changes.length] = [name, value];
    }
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (KINDS[name] === 2 && name in returned && !same(returned[name], readField(name))) readOnly(name);
    }
    for (let i = 0; i < changes.length; i++) writeField(changes[i][0], changes[i][1]);
  };

  kept.bytes = bytes;
  kept.plain = plain;
  kept.env = env;
  kept.print = print;
  return { __proto__: null, context, get, named, set: put, setBody, setHeader, taken, traps };
})
