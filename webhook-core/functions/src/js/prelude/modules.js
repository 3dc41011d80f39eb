// The modules, under the names they have in Lua and in camel case, made when a script first names one of them.
// What fails throws.
(function ($, kept) {
  "use strict";
  const { Proxy, apply, paying, bytes, text, limit, long, plain, part, binary, natives } = kept;
  const { JSON, Object, Error, TypeError } = globalThis, { stringify, parse } = JSON, { isArray } = Array;
  const { keys, freeze, defineProperty } = Object, { Uint8Array, ArrayBuffer } = natives;
  const { replace, startsWith, toLowerCase, toUpperCase, match, slice } = String.prototype, { floor } = Math;
  const native = paying($.module), send = paying($.send), word = /_([a-z])/g, period = /^([\d.]+)\s*(ms|s)?$/;

  // Some of what is made here answers with bytes.
  binary();
  // What is handed over is copied several times.
  const run = (name, form, given) => {
    let size = 0;
    for (let i = 0; i < given.length; i++) size += given[i].length;
    long(size);
    return native(name, form, given);
  };
  const data = (value) => {
    if (typeof value === "object" && value !== null) {
      const raw = bytes(value);
      return raw === undefined ? "t" + text(stringify(value)) : "b" + raw;
    }
    if (value === undefined || value === null) throw new TypeError("expected a text or bytes, got " + value);
    return "t" + text(value);
  };
  const words = (value) => {
    if (value === undefined || value === null) throw new TypeError("expected a text, got " + value);
    return text(value);
  };
  const tree = (value) => {
    const json = stringify(value);
    if (json === undefined) throw new TypeError("a " + typeof value + " cannot be encoded");
    return json;
  };
  // Headers of an answer to a request, by their names in any case.
  const headersOf = (given) => {
    const lower = plain(), names = keys(given);
    for (let i = 0; i < names.length; i++) lower[apply(toLowerCase, names[i], [])] = given[names[i]];
    return new Proxy(given, {
      get: (_, name) => (typeof name === "string" ? lower[apply(toLowerCase, name, [])] : undefined),
      has: (_, name) => typeof name === "string" && apply(toLowerCase, name, []) in lower,
    });
  };
  const camel = (name) => apply(replace, name, [word, (_, letter) => apply(toUpperCase, letter, [])]);
  const made = plain(), open = (name, functions) => {
    const names = keys(functions);
    for (let i = 0; i < names.length; i++) {
      if (names[i] === "subtle") continue;
      const own = camel(names[i]);
      if (own !== names[i]) functions[own] = functions[names[i]];
    }
    made[name] = freeze(functions);
  };

  const sum = (name) => (value, raw) => run(name, raw ? "bytes" : "hex", [data(value)]);
  const encode = (name) => (value) => run(name, "text", [data(value)]);
  const decode = (name) => (value, raw) => run(name, raw ? "bytes" : "text", [data(value)]);
  const coded = (options) => {
    if (options === true) return "raw";
    const name = typeof options === "object" && options !== null
      ? (options.raw ? "raw" : options.encoding ?? "base64") : options || "base64";
    if (name !== "raw" && name !== "hex" && name !== "base64") {
      throw new TypeError("the encoding must be raw, hex or base64");
    }
    return name;
  };
  const filled = (array) => {
    const raw = ArrayBuffer.isView(array) ? bytes(array) : undefined;
    if (raw === undefined) throw new TypeError("crypto.getRandomValues takes a list of integers");
    const view = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    if (view.length > 65536) throw new TypeError("crypto.getRandomValues fills 65536 bytes at most");
    const random = run("web.random", "bytes", [text(view.length)]);
    for (let i = 0; i < view.length; i++) view[i] = random[i];
    return array;
  };
  const cryptography = {
    randomUUID: () => run("web.uuid", "text", []),
    getRandomValues: filled,
    md5: sum("md5"), sha1: sum("sha1"), sha256: sum("sha256"), sha384: sum("sha384"), sha512: sum("sha512"),
    crc32: sum("crc32"),
    hmac: (algorithm, value, key, raw) =>
      run("hmac", raw ? "bytes" : "hex", [words(algorithm), data(value), data(key)]),
    equal: (a, b) => run("equal", "", [data(a), data(b)]),
    encrypt: (value, cipher, key, options, iv) => {
      const form = coded(options), given = [data(value), words(cipher), data(key), data(iv)];
      if (form !== "base64") return run("encrypt", form === "hex" ? "hex" : "bytes", given);
      return run("base64.encode", "text", [data(run("encrypt", "bytes", given))]);
    },
    decrypt: (value, cipher, key, options, iv) => {
      const form = coded(options);
      const plain = form === "raw" ? data(value) : data(run(form + ".decode", "bytes", [data(value)]));
      return run("decrypt", "text", [plain, words(cipher), data(key), data(iv)]);
    },
    base64_encode: encode("base64.encode"), base64_decode: decode("base64.decode"),
    base64_url_encode: encode("base64.url_encode"), base64_url_decode: decode("base64.url_decode"),
  };
  defineProperty(cryptography, "subtle", {
    get: part("subtle"), enumerable: true,
  });
  open("crypto", cryptography);
  open("base64", {
    encode: encode("base64.encode"), decode: decode("base64.decode"),
    url_encode: encode("base64.url_encode"), url_decode: decode("base64.url_decode"),
  });
  open("hex", { encode: encode("hex.encode"), decode: decode("hex.decode") });
  open("url", {
    encode: encode("url.encode"), decode: decode("url.decode"),
    parse: (value) => run("url.parse", "", [words(value)]),
    build: (parts) => run("url.build", "", [tree(parts)]),
    encode_query: (fields) => run("url.encode_query", "", [tree(fields)]),
    decode_query: (value) => run("url.decode_query", "", [data(value)]),
  });
  open("jwt", {
    sign: (claims, key, algorithm = "HS256") => run("jwt.sign", "", [tree(claims), data(key), words(algorithm)]),
    verify: (token, key, algorithms) => {
      const secret = data(key), given = [words(token), secret];
      algorithms ??= apply(startsWith, secret, ["t-----BEGIN"]) ? ["RS256", "ES256"] : "HS256";
      if (!isArray(algorithms)) algorithms = [algorithms];
      for (let i = 0; i < algorithms.length && i < 16; i++) given[i + 2] = words(algorithms[i]);
      return run("jwt.verify", "", given);
    },
  });
  open("xml", {
    decode: (value) => run("xml.decode", "", [words(value)]),
    encode: (value) => run("xml.encode", "text", [tree(value)]),
  });
  open("yaml", {
    decode: (value) => run("yaml.decode", "", [words(value)]),
    encode: (value) => run("yaml.encode", "text", [tree(value)]),
  });
  const dialect = (first, options = {}) => [first, text(options.delimiter ?? ""), options.header ? "true" : ""];
  open("csv", {
    decode: (value, options) => run("csv.decode", "", dialect(data(value), options)),
    encode: (value, options) => run("csv.encode", "text", dialect(tree(value), options)),
  });
  open("id", {
    uuid: () => run("id.uuid", "", []), uuid_v7: () => run("id.uuid_v7", "", []), ulid: () => run("id.ulid", "", []),
    nano_id: (length) => run("id.nano_id", "", length === undefined ? [] : [text(+length)]),
  });
  // The expression is the text, in either place.
  open("jmespath", {
    search: (expression, value) => {
      if (typeof expression !== "string") [expression, value] = [value, expression];
      return parse(run("jmespath.search", "text", [words(expression), tree(value)]));
    },
  });
  open("template", {
    render: (template, values, escape = "") => run("template.render", "text", [words(template), tree(values), text(escape)]),
  });
  const now = () => run("time.now", "", []);
  open("time", {
    unix: () => floor(now() / 1000),
    unix_nano: () => now() * 1e6,
    sleep: (seconds) => $.sleep(+seconds),
    parse: (value, layout, zone = "") => run("time.parse", "", [words(value), words(layout), text(zone)]),
    format: (seconds, layout = "2006-01-02T15:04:05Z07:00", zone = "") =>
      run("time.format", "text", [text(+seconds), text(layout), text(zone)]),
  });

  const seconds = (value) => {
    if (typeof value === "number") return value;
    const parts = apply(match, text(value), [period]);
    if (!parts) throw new TypeError("http option 'timeout' must be a number of seconds");
    return parts[2] === "ms" ? parts[1] / 1000 : +parts[1];
  };
  const fieldsOf = (value) => typeof value !== "object" || value === null || isArray(value) ? value : { ...value };
  const wish = (method, address, options = {}) => {
    const { query, headers, cookies, body, form, timeout, auth } = options ?? {};
    const asked = { method: words(method), url: words(address), query, headers: fieldsOf(headers), cookies, form };
    if (body !== undefined && body !== null) {
      const given = data(body);
      asked.bytes = given[0] === "b";
      asked.body = apply(slice, given, [1]);
    }
    if (timeout !== undefined && timeout !== null) asked.timeout_seconds = seconds(timeout);
    if (auth) asked.auth = [text(auth.user ?? ""), text(auth.pass ?? "")];
    return asked;
  };
  const shown = (answer) => {
    if (answer.error !== undefined) return answer;
    const { index } = answer;
    delete answer.index;
    answer.headers = headersOf(answer.headers);
    answer.statusCode = answer.status_code;
    answer.bodySize = answer.body_size;
    defineProperty(answer, "bodyBytes", { get: () => $.answer(index), enumerable: false });
    return answer;
  };
  const request = (method, address, options) => {
    const answer = shown(send(stringify([wish(method, address, options)]))[0]);
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer;
  };
  const by = (method) => (address, options) => request(method, address, options);
  open("http", {
    get: by("GET"), post: by("POST"), put: by("PUT"), patch: by("PATCH"), delete: by("DELETE"), head: by("HEAD"),
    request,
    request_batch: (list) => {
      const wishes = [];
      if (list.length > $.httpCalls) throw limit("http calls, at most " + $.httpCalls);
      for (let i = 0; i < list.length; i++) {
        const entry = list[i];
        wishes[i] = isArray(entry) ? wish(entry[0], entry[1], entry[2]) : wish(entry.method, entry.url, entry);
      }
      const answers = wishes.length > 0 ? send(stringify(wishes)) : [];
      for (let i = 0; i < answers.length; i++) shown(answers[i]);
      return answers;
    },
  });

  const lasts = (seconds) => (seconds === undefined || seconds === null ? "" : text(+seconds));
  const forget = (key) => run("kv.delete", "", [words(key)]);
  open("kv", {
    get: (key, raw) => run("kv.get", raw ? "bytes" : "text", [words(key)]),
    set: (key, value, seconds) =>
      value === undefined || value === null ? forget(key) : run("kv.set", "", [words(key), data(value), "", lasts(seconds)]),
    incr: (key, by = 1, seconds) => run("kv.incr", "", [words(key), "", text(+by), lasts(seconds)]),
    delete: forget,
  });

  kept.run = run;
  kept.words = words;
  kept.request = request;
  return made;
})
