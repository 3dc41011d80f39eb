// The names of the web, made when a script first names one of them.
(function ($, kept) {
  "use strict";
  const { apply, text, bytes, words, run, request, plain } = kept;
  const { Object, Error, TypeError, RangeError, JSON, RegExp, Promise } = globalThis;
  const { Map, Set } = kept.collections(), { Date } = kept.dates(), { ArrayBuffer } = kept.binary();
  const { stringify } = JSON, { isArray } = Array, { isView } = ArrayBuffer, { iterator } = Symbol;
  const { keys } = Object, { defineProperty } = kept.natives.Reflect;
  const { values: items } = Array.prototype;
  const { toLowerCase, toUpperCase, slice, codePointAt } = String.prototype;

  const failure = (name, message) => {
    const error = new Error(message);
    defineProperty(error, "name", { value: name, writable: true, configurable: true });
    return error;
  };
  const isObject = (value) => typeof value === "object" && value !== null;
  // A limit stays what it is.
  const orTypeError = (what, call) => {
    try { return call(); } catch (error) {
      throw error instanceof RangeError ? error : new TypeError(what + error.message);
    }
  };
  const pairsOf = (list, change) => {
    const changed = [];
    for (let i = 0; i < list.length; i++) changed[i] = change(list[i]);
    return apply(items, changed, []);
  };

  // Texts and bytes.
  const atob = (value) => {
    try { return run("web.atob", "text", [words(value)]); } catch (error) {
      throw error instanceof RangeError ? error : failure("InvalidCharacterError", error.message);
    }
  };
  const btoa = (value) => {
    try { return run("web.btoa", "text", [words(value)]); } catch (error) {
      throw error instanceof RangeError ? error : failure("InvalidCharacterError", error.message);
    }
  };
  class TextEncoder {
    get encoding() { return "utf-8"; }
    encode(value = "") { return $.utf8(text(value)); }
    encodeInto(value, into) {
      const whole = text(value);
      let read = 0, written = 0;
      for (const made = $.utf8(whole); read < whole.length;) {
        const code = apply(codePointAt, whole, [read]), size = code < 128 ? 1 : code < 2048 ? 2 : code < 65536 ? 3 : 4;
        if (written + size > into.length) break;
        for (let i = 0; i < size; i++, written++) into[written] = made[written];
        read += code < 65536 ? 1 : 2;
      }
      return { read, written };
    }
  }
  class TextDecoder {
    #fatal;
    #mark;
    constructor(label = "utf-8", options) {
      const name = apply(toLowerCase, text(label), []);
      if (name !== "utf-8" && name !== "utf8") throw new RangeError("TextDecoder: only utf-8 is available, not " + name);
      this.#fatal = !!options?.fatal;
      this.#mark = !!options?.ignoreBOM;
    }
    get encoding() { return "utf-8"; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#mark; }
    decode(value, options) {
      if (options?.stream) throw new TypeError("TextDecoder: stream is not available");
      if (value === undefined) return "";
      const fatal = this.#fatal ? "fatal" : "";
      const made = orTypeError("", () => run("web.utf8", "text", [binary(value), fatal]));
      return !this.#mark && made[0] === "\ufeff" ? apply(slice, made, [1]) : made;
    }
  }
  const binary = (value) => {
    const raw = isObject(value) ? bytes(value) : undefined;
    if (raw === undefined) throw new TypeError("expected bytes, as new TextEncoder().encode(text) gives them");
    return "b" + raw;
  };

  // Copies of values.
  const clone = (value, seen) => {
    if (typeof value === "function" || typeof value === "symbol") {
      throw failure("DataCloneError", "a " + typeof value + " cannot be cloned");
    }
    if (!isObject(value)) return value;
    const known = seen.get(value);
    if (known !== undefined) return known;
    const keep = (copy) => { seen.set(value, copy); return copy; };
    if (value instanceof Date) return keep(new Date(+value));
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
    if (value instanceof ArrayBuffer) return keep(value.slice(0));
    if (isView(value)) {
      const Type = value.constructor;
      return keep(new Type(clone(value.buffer, seen), value.byteOffset, value.length ?? value.byteLength));
    }
    if (value instanceof Map) {
      const copy = keep(new Map());
      value.forEach((item, key) => copy.set(clone(key, seen), clone(item, seen)));
      return copy;
    }
    if (value instanceof Set) {
      const copy = keep(new Set());
      value.forEach((item) => copy.add(clone(item, seen)));
      return copy;
    }
    if (value instanceof Error) {
      const copy = keep(new Error(value.message));
      defineProperty(copy, "name", { value: value.name, writable: true, configurable: true });
      return copy;
    }
    if (value instanceof Promise) throw failure("DataCloneError", "a promise cannot be cloned");
    const copy = keep(isArray(value) ? [] : {}), own = keys(value);
    if (isArray(value)) copy.length = value.length;
    for (let i = 0; i < own.length; i++) {
      const item = clone(value[own[i]], seen);
      defineProperty(copy, own[i], { value: item, writable: true, enumerable: true, configurable: true });
    }
    return copy;
  };
  const structuredClone = (value) => clone(value, new Map());

  // Addresses.
  let listOf, bind;
  class URLSearchParams {
    #list = [];
    #changed;
    constructor(init = "") {
      if (init instanceof URLSearchParams) this.#list = pairs(init.#list);
      else if (isObject(init) && init[iterator] !== undefined) {
        for (const entry of init) {
          const [name, value, ...more] = entry;
          if (value === undefined || more.length > 0) throw new TypeError("URLSearchParams: expected pairs");
          this.#list[this.#list.length] = [text(name), text(value)];
        }
      } else if (isObject(init)) {
        const names = keys(init);
        for (let i = 0; i < names.length; i++) this.#list[i] = [text(names[i]), text(init[names[i]])];
      } else this.#list = run("web.query", "", [text(init)[0] === "?" ? apply(slice, text(init), [1]) : text(init)]);
    }
    static {
      bind = (query, changed) => { query.#changed = changed; return query; };
      listOf = (query, list) => (list ? (query.#list = list) : query.#list);
    }
    #left(keep) {
      const left = [];
      for (let i = 0; i < this.#list.length; i++) if (keep(this.#list[i])) left[left.length] = this.#list[i];
      this.#list = left;
    }
    append(name, value) {
      this.#list[this.#list.length] = [text(name), text(value)];
      this.#changed?.();
    }
    delete(name, value) {
      const which = text(name), what = value === undefined ? undefined : text(value);
      this.#left((pair) => pair[0] !== which || (what !== undefined && pair[1] !== what));
      this.#changed?.();
    }
    get(name) {
      const which = text(name);
      for (let i = 0; i < this.#list.length; i++) if (this.#list[i][0] === which) return this.#list[i][1];
      return null;
    }
    getAll(name) {
      const which = text(name), all = [];
      for (let i = 0; i < this.#list.length; i++) if (this.#list[i][0] === which) all[all.length] = this.#list[i][1];
      return all;
    }
    has(name, value) {
      const all = this.getAll(name), what = value === undefined ? undefined : text(value);
      for (let i = 0; i < all.length; i++) if (what === undefined || all[i] === what) return true;
      return false;
    }
    set(name, value) {
      const which = text(name);
      let first;
      this.#left((pair) => pair[0] !== which || (first === undefined && (first = pair)));
      if (first) first[1] = text(value);
      else this.#list[this.#list.length] = [which, text(value)];
      this.#changed?.();
    }
    sort() {
      this.#list.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
      this.#changed?.();
    }
    get size() { return this.#list.length; }
    forEach(visit, self) {
      for (let i = 0; i < this.#list.length; i++) apply(visit, self, [this.#list[i][1], this.#list[i][0], this]);
    }
    keys() { return pairsOf(this.#list, (pair) => pair[0]); }
    values() { return pairsOf(this.#list, (pair) => pair[1]); }
    entries() { return pairsOf(this.#list, (pair) => [pair[0], pair[1]]); }
    [iterator]() { return this.entries(); }
    toString() { return run("web.query_text", "text", [stringify(this.#list)]); }
  }
  const pairs = (list) => {
    const copy = [];
    for (let i = 0; i < list.length; i++) copy[i] = [list[i][0], list[i][1]];
    return copy;
  };
  class URL {
    #parts;
    #query;
    constructor(address, base) {
      const given = base === undefined ? [text(address)] : [text(address), text(base)];
      this.#parts = orTypeError("", () => run("web.url", "", given));
    }
    static canParse(address, base) { return URL.parse(address, base) !== null; }
    static parse(address, base) {
      try { return new URL(address, base); } catch (error) {
        if (error instanceof TypeError) return null;
        throw error;
      }
    }
    static {
      for (const name of ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname",
        "search", "hash"]) {
        defineProperty(URL.prototype, name, {
          get() { return this.#parts[name]; },
          set: name === "origin" ? undefined : function (value) { this.#set(name, text(value)); },
          enumerable: true, configurable: true,
        });
      }
    }
    #set(name, value) {
      this.#parts = orTypeError("", () => run("web.url_with", "", [this.#parts.href, name, value]));
      if (this.#query && (name === "search" || name === "href")) {
        listOf(this.#query, listOf(new URLSearchParams(this.#parts.search)));
      }
    }
    get searchParams() {
      return this.#query ??= bind(new URLSearchParams(this.#parts.search), () => {
        const { href } = this.#parts, search = this.#query.toString();
        this.#parts = run("web.url_with", "", [href, "search", search]);
      });
    }
    toString() { return this.#parts.href; }
    toJSON() { return this.#parts.href; }
  }

  // Requests.
  class Headers {
    #all = plain();
    constructor(init) {
      if (init === undefined || init === null) return;
      if (init instanceof Headers) init.forEach((value, name) => this.append(name, value));
      else if (init[iterator] !== undefined) for (const [name, value] of init) this.append(name, value);
      else {
        const names = keys(init);
        for (let i = 0; i < names.length; i++) this.append(names[i], init[names[i]]);
      }
    }
    append(name, value) {
      const key = apply(toLowerCase, text(name), []), before = this.#all[key];
      this.#all[key] = before === undefined ? text(value) : before + ", " + text(value);
    }
    set(name, value) { this.#all[apply(toLowerCase, text(name), [])] = text(value); }
    get(name) { return this.#all[apply(toLowerCase, text(name), [])] ?? null; }
    has(name) { return this.get(name) !== null; }
    delete(name) { delete this.#all[apply(toLowerCase, text(name), [])]; }
    #sorted() {
      const list = [], names = keys(this.#all).sort();
      for (let i = 0; i < names.length; i++) list[i] = [names[i], this.#all[names[i]]];
      return list;
    }
    forEach(visit, self) {
      const list = this.#sorted();
      for (let i = 0; i < list.length; i++) apply(visit, self, [list[i][1], list[i][0], this]);
    }
    keys() { return pairsOf(this.#sorted(), (pair) => pair[0]); }
    values() { return pairsOf(this.#sorted(), (pair) => pair[1]); }
    entries() { return pairsOf(this.#sorted(), (pair) => pair); }
    [iterator]() { return this.entries(); }
  }
  const decoded = (own) => run("web.utf8", "text", [binary(own), ""]);
  // What a body consists of, and its type.
  const contentOf = (body) => {
    if (body === undefined || body === null) return { none: true, text: () => "", bytes: () => $.utf8("") };
    if (body instanceof URLSearchParams) return { ...contentOf(body.toString()), type: "application/x-www-form-urlencoded;charset=UTF-8" };
    if (!isObject(body)) {
      const whole = text(body);
      return { type: "text/plain;charset=UTF-8", text: () => whole, bytes: () => $.utf8(whole) };
    }
    const streamed = kept.streamed?.(body);
    if (streamed) return streamed;
    if (bytes(body) === undefined) {
      throw new TypeError("the body must be a text, bytes, URLSearchParams, a Blob or a ReadableStream");
    }
    const own = run("web.bytes", "bytes", [binary(body)]);
    return { bytes: () => own };
  };
  let answered;
  class Response {
    #status;
    #phrase;
    #headers;
    #content;
    #url = "";
    #used = false;
    constructor(body, init) {
      const { status = 200, statusText = "", headers } = init ?? {};
      if (!(status >= 200 && status <= 599)) throw new RangeError("the status must be 200 to 599");
      this.#status = +status;
      this.#phrase = text(statusText);
      this.#headers = new Headers(headers);
      this.#content = contentOf(body);
      const { type } = this.#content;
      if (type && !this.#headers.has("content-type")) this.#headers.set("content-type", type);
    }
    static {
      answered = (answer) => {
        const made = new Response();
        made.#status = answer.status_code;
        made.#headers = new Headers(answer.headers);
        made.#url = answer.url;
        made.#content = { text: () => answer.body, bytes: () => answer.bodyBytes };
        return made;
      };
    }
    static json(value, init) {
      const made = new Response(stringify(value), init);
      if (!new Headers(init?.headers).has("content-type")) made.#headers.set("content-type", "application/json");
      return made;
    }
    get status() { return this.#status; }
    get ok() { return this.#status >= 200 && this.#status < 300; }
    get statusText() { return this.#phrase; }
    get url() { return this.#url; }
    get redirected() { return false; }
    get type() { return this.#url === "" ? "default" : "basic"; }
    get bodyUsed() { return this.#used; }
    get headers() { return this.#headers; }
    get body() {
      const content = this.#content;
      if (content.none) return null;
      if (content.stream === undefined) {
        kept.streams();
        this.#content = kept.streamed(kept.streamOf(content.bytes));
      }
      return this.#content.stream;
    }
    #use() {
      if (this.#used) throw new TypeError("the body was read before");
      this.#used = true;
      return this.#content;
    }
    async text() {
      const content = this.#use();
      return content.text === undefined ? decoded(await content.bytes()) : content.text();
    }
    async json() { return JSON.parse(await this.text()); }
    async bytes() { return this.#use().bytes(); }
    async arrayBuffer() { return (await this.bytes()).buffer; }
    async blob() {
      kept.streams();
      return kept.blob(await this.bytes(), this.#headers.get("content-type") ?? "");
    }
    clone() {
      if (this.#used || this.#content.stream) throw new TypeError("the body was read before, or is a stream");
      const made = new Response(undefined, { status: this.#status, statusText: this.#phrase, headers: this.#headers });
      made.#content = this.#content;
      made.#url = this.#url;
      return made;
    }
  }
  const fetch = async (resource, options) => {
    const { method = "GET", headers: given, body, signal } = options ?? {};
    if (signal) throw new TypeError("fetch: signal is not available; http.request takes a timeout");
    const headers = new Headers(given), content = contentOf(body), sent = {};
    if (content.type && !headers.has("content-type")) headers.set("content-type", content.type);
    headers.forEach((value, name) => { sent[name] = value; });
    const raw = content.none ? undefined : content.text ? content.text() : await content.bytes();
    const name = apply(toUpperCase, text(method), []), address = text(resource);
    return answered(orTypeError("fetch failed: ", () => request(name, address, { headers: sent, body: raw })));
  };

  const made = { TextEncoder, TextDecoder, URLSearchParams, URL, Headers, Response };
  for (const name of keys(made)) {
    defineProperty(made[name].prototype, Symbol.toStringTag, { value: name, configurable: true });
  }
  kept.ofWeb = { __proto__: null, binary, decoded, isObject, orTypeError, Response };
  return { TextEncoder, TextDecoder, URLSearchParams, URL, Headers, atob, btoa, structuredClone, fetch };
})
