// `crypto.subtle`, made when a script first names it: digests, HMAC, AES in CBC and GCM, RSA, ECDSA and Ed25519.
(function ($, kept) {
  "use strict";
  const { apply, text, bytes, run } = kept;
  const { Error, TypeError, Object } = globalThis, { isArray } = Array;
  const { freeze } = Object, { defineProperty } = kept.natives.Reflect, { toUpperCase, slice: cut } = String.prototype;
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
    "RSASSA-PKCS1-V1_5": ["sign", "verify"], "RSA-PSS": ["sign", "verify"], ECDSA: ["sign", "verify"], ED25519: ["sign", "verify"],
  };
  const known = (algorithm) => {
    const name = named(algorithm);
    if (!(name in USAGES)) {
      throw failure("NotSupportedError", "the algorithm " + name + " is not available: HMAC, AES-CBC, AES-GCM, RSASSA-PKCS1-v1_5, RSA-PSS, ECDSA, Ed25519");
    }
    return name;
  };
  let made, secretOf;
  class CryptoKey {
    #secret;
    static {
      made = (secret, algorithm, extractable, usages, type = "secret") => {
        const key = new CryptoKey();
        key.#secret = secret;
        const fields = { type, algorithm: freeze(algorithm), extractable: !!extractable, usages: freeze(usages) };
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

  // What signs with a pair of keys: the hash, or the curve that has one.
  const WRITTEN = { __proto__: null, "RSASSA-PKCS1-V1_5": "RSASSA-PKCS1-v1_5", ED25519: "Ed25519" };
  const SCHEMES = {
    __proto__: null, "RSASSA-PKCS1-V1_5": "RS", "RSA-PSS": "PS", "P-256": "ES256", "P-384": "ES384", "P-256SHA-256": 1, "P-384SHA-384": 1,
  };
  const pairOf = (name, format, given, algorithm, extractable, usages) => {
    const described = { name: WRITTEN[name] ?? name };
    if (name === "ECDSA") {
      described.namedCurve = text(algorithm.namedCurve);
      if (!(described.namedCurve in SCHEMES)) throw failure("NotSupportedError", "the curve must be P-256 or P-384");
    } else if (name !== "ED25519") {
      described.hash = { name: hash(algorithm.hash) };
      if (described.hash.name === "SHA-1") throw failure("NotSupportedError", "SHA-1 is not available with RSA");
    }
    const isPrivate = format === "pkcs8", use = isPrivate ? "sign" : "verify";
    for (let i = 0; i < usages.length; i++) {
      if (usages[i] !== use) throw failure("SyntaxError", "a key given as " + format + " is for " + use);
    }
    let key;
    if (isPrivate) key = binary(given, "the key");
    else if (format === "spki") key = "b" + bytes(run("web.public_key", "bytes", [binary(given, "the key")]));
    else if (format === "raw" && (name === "ECDSA" || name === "ED25519")) key = binary(given, "the key");
    else throw failure("NotSupportedError", "keys of " + described.name + " are imported as pkcs8, spki, or (ECDSA, Ed25519) raw");
    return made(key, described, extractable, apply(part, usages, []), isPrivate ? "private" : "public");
  };
  const isPair = (algorithm) => SCHEMES[known(algorithm)] !== undefined || known(algorithm) === "ECDSA" || known(algorithm) === "ED25519";
  // The name of how it is signed.
  const schemeOf = (algorithm, key) => {
    const name = known(algorithm), own = key.algorithm;
    if (name === "ED25519") return "EdDSA";
    if (name === "ECDSA") {
      if (!(own.namedCurve + hash(algorithm.hash) in SCHEMES)) {
        throw failure("NotSupportedError", "ECDSA is available as P-256 with SHA-256 and P-384 with SHA-384");
      }
      return SCHEMES[own.namedCurve];
    }
    const bits = apply(cut, own.hash.name, [4]);
    if (name === "RSA-PSS" && algorithm.saltLength !== +bits / 8) {
      throw failure("NotSupportedError", "RSA-PSS is available with a salt as long as the hash: " + +bits / 8);
    }
    return SCHEMES[name] + bits;
  };
  const signing = (algorithm, key, given) => {
    const secret = secretOf(key, "sign", WRITTEN[known(algorithm)] ?? known(algorithm));
    try { return run("web.sign", "bytes", [schemeOf(algorithm, key), secret, binary(given, "the data")]); } catch (error) {
      throw error.name === "Error" ? failure("OperationError", error.message) : error;
    }
  };
  const verifying = (algorithm, key, signature, given) => {
    const secret = secretOf(key, "verify", WRITTEN[known(algorithm)] ?? known(algorithm));
    return run("web.verify", "", [schemeOf(algorithm, key), secret, binary(given, "the data"), binary(signature, "the signature")]);
  };

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
    importKey: async (format, given, algorithm, extractable, usages) => isPair(algorithm)
      ? pairOf(known(algorithm), format, given, algorithm, extractable, usages) : keyOf(rawKey(format, given), algorithm, extractable, usages),
    generateKey: async (algorithm, extractable, usages) => {
      if (isPair(algorithm)) throw failure("NotSupportedError", "pairs of keys are not generated: import them");
      const hmac = known(algorithm) === "HMAC", large = hmac && hash(algorithm.hash) > "SHA-3";
      const bits = algorithm.length ?? (hmac ? (large ? 1024 : 512) : undefined);
      if (!(bits >= 8 && bits <= 8192) || bits % 8 !== 0) throw failure("OperationError", "a key of " + bits + " bits");
      return keyOf(run("web.random", "bytes", [text(bits / 8)]), algorithm, extractable, usages);
    },
    exportKey: async (format, key) => {
      if (format !== "raw" || key?.type !== "secret") throw failure("NotSupportedError", "secret keys are exported, as raw");
      if (!key?.extractable) throw failure("InvalidAccessError", "the key is not extractable");
      return run("web.bytes", "bytes", [exported(key)]).buffer;
    },
    sign: async (algorithm, key, given) =>
      (isPair(algorithm) ? signing(algorithm, key, given) : mac(algorithm, key, "sign", given)).buffer,
    verify: async (algorithm, key, signature, given) => isPair(algorithm) ? verifying(algorithm, key, signature, given) :
      run("equal", "", ["b" + bytes(mac(algorithm, key, "verify", given)), binary(signature, "the signature")]),
    encrypt: async (algorithm, key, given) => crypt("encrypt", algorithm, key, given),
    decrypt: async (algorithm, key, given) => crypt("decrypt", algorithm, key, given),
  });
})
