// The styles of other services, with what their services give a function and take from it. Answers a function
// that runs what a script declares, and leaves in `kept` the one that takes over the result.
(function ($, kept) {
  "use strict";
  const { apply, Proxy, r, text, plain, setHeader } = kept;
  const { JSON, TypeError, Object } = globalThis, { stringify, parse } = JSON, { isArray } = Array;
  const { keys, hasOwn } = Object, { defineProperty } = kept.natives.Reflect;
  const { toLowerCase, includes, slice, trimStart } = String.prototype;

  let take, json, isForm = false;
  kept.again[kept.again.length] = () => { take = json = undefined; isForm = false; };
  const put = (object, name, value) =>
    defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  const isObject = (value) => typeof value === "object" && value !== null;
  // GitHub and Slack send a form whose one field, payload, is the JSON.
  const FORM = "payload=", ofUrl = (name, value) => $.module("url." + name, "text", ["t" + value]);
  const content = () => {
    const body = r.body, type = apply(toLowerCase, r.headers["content-type"] ?? "", []);
    isForm = apply(includes, type, ["x-www-form-urlencoded"]) && apply(slice, body, [0, FORM.length]) === FORM &&
      !apply(includes, body, ["&"]);
    return isForm ? ofUrl("decode", apply(slice, body, [FORM.length])) : body;
  };
  const write = (value) => { r.body = isForm ? FORM + ofUrl("encode", value) : value; };
  const payload = (style) => {
    let value;
    try { value = parse(content()); } catch (error) {
      throw new TypeError(style + " is given the payload, and the body is not JSON: " + error.message);
    }
    json = stringify(value);
    return value;
  };
  // A payload that is what it was leaves the body byte for byte.
  const setPayload = (style, value) => {
    if (isArray(value) && keys(value).length > value.length) {
      throw new TypeError(style + ": the payload is a list, and its field \"" + keys(value)[value.length] + "\" is lost");
    }
    const now = stringify(value);
    if (now === undefined) throw new TypeError(style + " must return a payload, which a " + typeof value + " is not");
    if (now !== json) write(now);
  };

  // What a handler is given, of which it can name the known fields alone: any other name is of a field of the payload.
  const strict = (name, given, known, payload) => {
    const check = (field) => {
      if (typeof field !== "string" || field in known || field === "then" || field === "toJSON" || field in Object.prototype) return;
      throw new TypeError(name + " has no field \"" + field + "\": the payload is " + name + "." + payload);
    };
    return new Proxy(given, {
      __proto__: null,
      get: (all, field) => (check(field), all[field]),
      set: (all, field, value) => (check(field), put(all, field, value)),
      deleteProperty: (_, field) => (check(field), delete given[field]),
      defineProperty: (all, field, descriptor) => (check(field), defineProperty(all, field, descriptor)),
    });
  };
  const checkAll = (name, given, known) => {
    const names = keys(given);
    for (let i = 0; i < names.length; i++) {
      if (!(names[i] in known)) throw new TypeError(name + " that is returned has no field \"" + names[i] + "\"");
    }
  };

  // transform(payload) returns the new payload.
  const ofPayload = (transform) => {
    const style = "transform(payload)";
    take = (value) => {
      if (value === null) return $.stop();
      if (value === undefined) throw new TypeError(style + " must return the new payload");
      setPayload(style, value);
    };
    return transform((kept.payload = payload(style)), kept.fields().context());
  };

  // handler(webhook) returns the webhook.
  const WEBHOOK = { __proto__: null, method: 1, url: 1, payload: 1, cancel: 1, headers: 1, eventType: 1, channels: 1 };
  const absent = (webhook, name) => {
    const get = () => { throw new TypeError("webhook." + name + " is not known here"); };
    const set = (value) => put(webhook, name, value);
    defineProperty(webhook, name, { get, set, enumerable: false, configurable: true });
  };
  const ofWebhook = (handler) => {
    const style = "handler(webhook)", address = r.metadata.output_url ?? "";
    const webhook = { method: r.method, url: address, payload: payload(style), cancel: false };
    if (r.eventType === undefined) absent(webhook, "eventType");
    else put(webhook, "eventType", r.eventType);
    absent(webhook, "channels");
    take = (given) => {
      if (given === null) return $.stop();
      if (!isObject(given) || !("payload" in given)) throw new TypeError(style + " must return the webhook");
      checkAll("the webhook", given, WEBHOOK);
      if (given.cancel) return $.stop();
      const { method, url, headers } = given;
      if (url !== undefined && url !== address) {
        throw new TypeError("webhook.url cannot be changed: the output says where its webhooks go");
      }
      if (method !== undefined && method !== r.method) r.method = method;
      if (headers !== undefined && headers !== null) {
        if (!isObject(headers)) throw new TypeError("webhook.headers must be an object");
        const names = keys(headers);
        for (let i = 0; i < names.length; i++) setHeader(false, names[i], headers[names[i]]);
      }
      setPayload(style, given.payload);
    };
    kept.payload = webhook.payload;
    return handler(strict("the webhook", webhook, WEBHOOK, "payload"), kept.fields().context());
  };

  // addHandler("transform", (request, context) => …) returns the request.
  const REQUEST = { __proto__: null, headers: 1, body: 1, query: 1, parsed_query: 1, path: 1 };
  const document = () => {
    try {
      const body = content(), start = apply(trimStart, body, [])[0];
      const named = apply(includes, r.headers["content-type"] ?? "", ["json"]);
      if (!named && start !== "{" && start !== "[") throw undefined;
      const value = parse(body);
      json = stringify(value);
      return value;
    } catch {
      isForm = false;
      return r.body;
    }
  };
  const ofRequest = (handler) => {
    const style = "the handler of \"transform\"";
    const headers = {}, names = keys(r.headers), parsed = {}, pairs = $.query();
    for (let i = 0; i < names.length; i++) headers[apply(toLowerCase, names[i], [])] = r.headers[names[i]];
    for (let i = 0; i + 1 < pairs.length; i += 2) {
      const name = pairs[i], value = pairs[i + 1], before = hasOwn(parsed, name) ? parsed[name] : undefined;
      if (isArray(before)) before[before.length] = value;
      else put(parsed, name, before === undefined ? value : [before, value]);
    }
    const body = document(), path = r.path, query = r.rawQuery, old = { ...headers }, fields = stringify(parsed);
    take = (given) => {
      if (given === null) return $.stop();
      if (!isObject(given) || !("body" in given) || !isObject(given.headers)) {
        throw new TypeError(style + " must return the request, with its headers and its body");
      }
      checkAll("the request", given, REQUEST);
      if (isObject(given.body) || (given.body === null && json === "null")) setPayload(style, given.body);
      else if (given.body !== body) r.body = given.body;
      const left = plain(), names = keys(given.headers), before = keys(old);
      for (let i = 0; i < names.length; i++) {
        const name = apply(toLowerCase, names[i], []), value = given.headers[names[i]];
        left[name] = true;
        if (value !== old[name]) setHeader(false, name, value);
      }
      for (let i = 0; i < before.length; i++) if (!(before[i] in left)) $.deleteHeader(false, before[i]);
      if (given.path !== undefined && given.path !== path) r.path = given.path;
      if (given.query !== undefined && given.query !== query) r.rawQuery = given.query;
      else if (given.parsed_query !== undefined) {
        const now = stringify(given.parsed_query);
        if (now !== fields) r.rawQuery = $.module("url.encode_query", "", [text(now)]);
      }
    };
    kept.payload = body;
    return handler(strict("the request", { headers, body, query, parsed_query: parsed, path }, REQUEST, "body"), kept.fields().context());
  };
  kept.style = { __proto__: null, payload, setPayload, document, put, isObject };
  return (added, transform, handler) => {
    kept.finish = (returned) => take(returned);
    return added ? ofRequest(added) : transform ? ofPayload(transform) : ofWebhook(handler);
  };
})
