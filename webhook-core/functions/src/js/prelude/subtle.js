// `crypto.subtle`, made when a script first names it: digests, HMAC, AES in CBC and GCM.
(function ($, kept) {
  "use strict";
  const { apply, text, bytes, run } = kept;
  const { Error, TypeError, Object } = globalThis, { isArray } = Array;
  const { freeze } = Object, { defineProperty } = kept.natives.Reflect, { toUpperCase } = String.prototype;
  const { includes, slice: part } = Array.prototype;

  const failure = (name, message) => {
    const error = new Error(message);
    defineProperty(error, "name", { value: name, writable: true, configurable: true });
    return error;
  };
  const binary = (value, what) => {
    const raw = typeof value === "object" && value !== null ? bytes(value) : undefined;
    if (raw === undefined) throw new TypeError(what + " must be bytes, as new TextEncoder().encode(text) gives them");
    return "b" + raw;
  };
  const named = (algorithm) => {
    const name = typeof algorithm === "object" && algorithm !== null ? algorithm.name : algorithm;
    return apply(toUpperCase, text(name), []);
  };
  const DIGESTS = {
    __proto__: null, "SHA-1": "sha1", "SHA-256": "sha256", "SHA-384": "sha384", "SHA-512": "sha512",
  };
  const hash = (algorithm) => {
    const name = named(algorithm);
    if (!(name in DIGESTS)) {
      throw failure("NotSupportedError", "the hash " + name + " is not available: SHA-1, SHA-256, SHA-384, SHA-512");
    }
    return name;
  };
  const USAGES = {
    __proto__: null, HMAC: ["sign", "verify"], "AES-CBC": ["encrypt", "decrypt"], "AES-GCM": ["encrypt", "decrypt"],
  };
  const known = (algorithm) => {
    const name = named(algorithm);
    if (!(name in USAGES)) {
      throw failure("NotSupportedError", "the algorithm " + name + " is not available: HMAC, AES-CBC, AES-GCM");
    }
    return name;
  };
  let made, secretOf;
  class CryptoKey {
    #secret;
    static {
      made = (secret, algorithm, extractable, usages) => {
        const key = new CryptoKey();
        key.#secret = secret;
        const fields = { type: "secret", algorithm: freeze(algorithm), extractable: !!extractable, usages: freeze(usages) };
        for (const name of ["type", "algorithm", "extractable", "usages"]) {
          defineProperty(key, name, { value: fields[name], enumerable: true });
        }
        return key;
      };
      secretOf = (key, use, name) => {
        if (typeof key !== "object" || key === null || !(#secret in key)) throw new TypeError("expected a CryptoKey");
        if (key.algorithm.name !== name || !apply(includes, key.usages, [use])) {
          throw failure("InvalidAccessError", "the key is not for " + use + " with " + name);
        }
        return key.#secret;
      };
      CryptoKey.exported = (key) => key.#secret;
    }
  }
  const exported = CryptoKey.exported;
  delete CryptoKey.exported;

  const keyOf = (raw, algorithm, extractable, usages) => {
    const name = known(algorithm), length = raw.length * 8;
    if (!isArray(usages) || usages.length === 0) throw failure("SyntaxError", "a key needs usages");
    for (let i = 0; i < usages.length; i++) {
      if (!apply(includes, USAGES[name], [usages[i]])) {
        throw failure("SyntaxError", "a key of " + name + " is not for " + text(usages[i]));
      }
    }
    if (name === "HMAC") {
      if (length === 0) throw failure("DataError", "the key is empty");
      const described = { name, hash: { name: hash(algorithm.hash) }, length };
      return made(binary(raw), described, extractable, apply(part, usages, []));
    }
    if (length !== 128 && length !== 192 && length !== 256) {
      throw failure("DataError", "a key of " + raw.length + " bytes, AES takes 16, 24 or 32");
    }
    return made(binary(raw), { name, length }, extractable, apply(part, usages, []));
  };
  const rawKey = (format, given) => {
    if (format === "raw") return run("web.bytes", "bytes", [binary(given, "the key")]);
    if (format === "jwk" && given?.kty === "oct") return run("base64.url_decode", "bytes", ["t" + text(given.k)]);
    throw failure("NotSupportedError", "keys are imported as raw, or as jwk of the type oct");
  };
  const mac = (algorithm, key, use, given) => {
    if (known(algorithm) !== "HMAC") throw failure("NotSupportedError", use + " is available with HMAC");
    const secret = secretOf(key, use, "HMAC");
    return run("hmac", "bytes", [key.algorithm.hash.name, binary(given, "the data"), secret]);
  };
  const crypt = (use, algorithm, key, given) => {
    const name = known(algorithm), secret = secretOf(key, use, name), content = binary(given, "the data");
    const iv = binary(algorithm.iv, "the iv");
    try {
      if (name === "AES-CBC") return run(use, "bytes", [content, "aes-cbc", secret, iv]).buffer;
      if ((algorithm.tagLength ?? 128) !== 128) {
        throw failure("NotSupportedError", "AES-GCM is available with tags of 128 bits");
      }
      const more = algorithm.additionalData === undefined ? "b" : binary(algorithm.additionalData, "additionalData");
      return run("web.gcm_" + use, "bytes", [content, secret, iv, more]).buffer;
    } catch (error) {
      throw error.name === "Error" ? failure("OperationError", error.message) : error;
    }
  };
  return freeze({
    digest: async (algorithm, given) => run(DIGESTS[hash(algorithm)], "bytes", [binary(given, "the data")]).buffer,
    importKey: async (format, given, algorithm, extractable, usages) =>
      keyOf(rawKey(format, given), algorithm, extractable, usages),
    generateKey: async (algorithm, extractable, usages) => {
      const hmac = known(algorithm) === "HMAC", large = hmac && hash(algorithm.hash) > "SHA-3";
      const bits = algorithm.length ?? (hmac ? (large ? 1024 : 512) : undefined);
      if (!(bits >= 8 && bits <= 8192) || bits % 8 !== 0) throw failure("OperationError", "a key of " + bits + " bits");
      return keyOf(run("web.random", "bytes", [text(bits / 8)]), algorithm, extractable, usages);
    },
    exportKey: async (format, key) => {
      if (format !== "raw") throw failure("NotSupportedError", "keys are exported as raw");
      if (!key?.extractable) throw failure("InvalidAccessError", "the key is not extractable");
      return run("web.bytes", "bytes", [exported(key)]).buffer;
    },
    sign: async (algorithm, key, given) => mac(algorithm, key, "sign", given).buffer,
    verify: async (algorithm, key, signature, given) =>
      run("equal", "", ["b" + bytes(mac(algorithm, key, "verify", given)), binary(signature, "the signature")]),
    encrypt: async (algorithm, key, given) => crypt("encrypt", algorithm, key, given),
    decrypt: async (algorithm, key, given) => crypt("decrypt", algorithm, key, given),
  });
})
