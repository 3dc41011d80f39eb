// Bounds what the engine's own functions may do in one step. The engine looks
// at the limits only at calls and at turns of loops, once in ten thousand of
// them; what a function of its own does in between nobody can stop. So
//  - functions that take time in proportion to their input pay for it: they
//    turn a loop once for each microsecond, and the limits are seen in time;
//  - sizes at which one step takes too long are refused beforehand;
//  - what cannot be bounded is taken away.
// Scripts may spoil the library, so nothing is looked up in it later. (The
// engine makes a call of `concat` of a template, hence none in here.)
// Each call has an engine of its own, in which all this happens anew: a function
// that is made takes some 10 000 instructions, so there is one in the place of
// each and no second one around it, and those alone that the source can come to;
// the others are taken away (`open`). What only a name in the global object leads
// to (`collections`, `binary`, `dates`, `locales`) waits until it is named. What most
// scripts need is in `core`, before this. A small engine has no maps, dates, bytes and
// patterns; in one that is plain or bare this part comes when a field of `r` needs it.
(function ($, kept) {
  "use strict";
  const { Array, RegExp, Promise, Reflect, Object, Proxy, TypeError, Symbol, Error, Number } = globalThis;
  const { arrays, defineProperty, fields, getPrototypeOf, hide, paying, JSON } = kept;
  const { max, min, floor, trunc, log2 } = Math;
  const { construct, ownKeys, set } = Reflect;
  const { species, toStringTag } = Symbol;
  // SEARCH: characters that the engine may compare in one step; CHUNK: those of one step of many.
  // LONG: texts that take time to compare. SORTED: comparisons, times 32 characters.
  const SEARCH = 1 << 26, CHUNK = 1 << 24, STRING = $.stringBytes, LONG = 1 << 10, SORTED = 1 << 21;
  const ENDS = "format with toFixed, or with time.format(seconds, layout, zone)";

  const exec = RegExp?.prototype.exec;

  // Numbers without bound, code from text, memory shared or waited on, and what shows the engine's own functions.
  const none = function Function() { throw new TypeError("code from text is not available"); };
  hide(getPrototypeOf(function () {}), "constructor", none);
  hide(getPrototypeOf(function* () {}), "constructor", none);
  hide(getPrototypeOf(async function () {}), "constructor", none);
  hide(getPrototypeOf(async function* () {}), "constructor", none);
  none.prototype = getPrototypeOf(none);
  hide(globalThis, "Function", none);
  const remove = (owner, names) => { for (let i = 0; i < names.length; i++) delete owner[names[i]]; };
  remove(globalThis, ["eval", "BigInt", "BigInt64Array", "BigUint64Array", "Atomics", "SharedArrayBuffer", "Proxy",
    "performance"]);
  remove(Error, ["prepareStackTrace", "captureStackTrace", "stackTraceLimit"]);

  // What is made when a script first names it. A source that does not have a name in it and no way to the global
  // object needs not even that, and most have few of them.
  const makers = { __proto__: null };
  const lazily = (make, names) => { for (let i = 0; i < names.length; i++) makers[names[i]] = make; };
  // A part of the prelude of its own, made once.
  const part = (name) => {
    let made;
    return () => (made ??= (bounds(), $.part(name, $)($, kept)));
  };
  // What only some sources need of the guard, before any other part.
  let bounding;
  const bounds = () => (bounding ??= $.part("bounds", $)($, kept));
  // The engine's own, which no script sees before the part has bounded it.
  const natives = { __proto__: null };
  const later = (make, names) => {
    for (let i = 0; i < names.length; i++) natives[names[i]] = globalThis[names[i]];
    remove(globalThis, names);
    lazily(make, names);
  };
  const longTexts = part("texts"), binary = part("binary"), collections = part("collections"), dates = part("dates"), locales = part("locales");
  if (RegExp !== undefined) {
    later(collections, ["Map", "Set", "WeakMap", "WeakSet"]);
    later(dates, ["Date"]);
    later(binary, ["ArrayBuffer", "DataView", "Uint8Array", "Int8Array", "Uint8ClampedArray", "Uint16Array", "Int16Array",
      "Uint32Array", "Int32Array", "Float16Array", "Float32Array", "Float64Array"]);
  }

  later((name) => ({ __proto__: null, [name]: paying(natives[name]) }), ["parseInt", "parseFloat", "decodeURI",
    "decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "unescape"]);
  later(() => bounds().reflect(), ["Reflect"]);

  // What depends on a language or a country.
  lazily(locales, ["Intl"]);
  const modules = part("modules"), web = part("web"), streams = part("streams");
  lazily((name) => fields().named(name), ["cfg", "console", "process", "addHandler", "$transform"]);
  lazily(part("timers"), ["setTimeout", "clearTimeout"]);
  lazily(() => { fields(); return modules(); }, [
    "http", "crypto", "base64", "hex", "url", "jwt", "xml", "yaml", "csv", "kv", "time", "jmespath", "template", "id",
  ]);
  lazily(() => { fields(); modules(); return web(); }, [
    "URL", "URLSearchParams", "TextEncoder", "TextDecoder", "Headers", "atob", "btoa", "structuredClone", "fetch",
  ]);
  const allStreams = () => { fields(); modules(); web(); return streams(); };
  lazily(allStreams, [
    "Blob", "CompressionStream", "DecompressionStream", "ReadableStream", "Response",
  ]);

  // What a source can come to, before the script sees anything: `names` are those of the global object that are made when
  // they are named; `bounded` has whether there may be patterns, and then the functions, each behind its owner.
  const open = (names, bounded) => {
    for (let i = 0; i < names.length; i++) {
      const name = names[i], make = makers[name], access = (...given) => {
        const value = given.length > 0 ? given[0] : make(name)[name];
        hide(globalThis, name, value);
        return value;
      };
      defineProperty(globalThis, name, { __proto__: null, get: access, set: access, enumerable: false, configurable: true });
    }
    if (bounded[0] || bounded.length > 1) bounds().bind(bounded);
  };

  // What is asked of `r` seldom.
  const seldom = { __proto__: null, get: (_, name) => fields().traps[name] };
  Object.setPrototypeOf(kept.request.traps, new Proxy({ __proto__: null }, seldom));
  defineProperty(globalThis, "r", { __proto__: null, set: (value) => { hide(globalThis, "r", value); } });
  // What is done at the end of a script that is of another style, or does nothing.
  const styles = part("styles");
  const adapting = part("adapt");
  const adapt = (name, exported) => {
    fields();
    styles();
    adapting()(name, exported);
    kept.finish = kept.adapter.take;
  };
  const ended = (transform, handler, used) => {
    if (kept.adapter) return kept.adapter.run(transform, kept.exports, handler);
    if (kept.added || transform || (handler && !used)) {
      fields();
      return styles()(kept.added, transform, handler);
    }
    if (!used && $.onlyDeclares()) {
      throw new TypeError("the script declares functions and does nothing with the webhook: use r, or declare " +
        "transform(r), transform(payload), handler(webhook) or addHandler(\"transform\", …)");
    }
    return undefined;
  };
  Object.assign(kept, {
    guarded: true, adapt, streams: allStreams, web: () => { fields(); modules(); return web(); }, binary, collections, dates, ended, exec, floor, lazily, listText: arrays.toString, locales, log2, longTexts, max,
    min, natives, open, part, texts: undefined, trunc, CHUNK, ENDS, LONG, Proxy, SEARCH, SORTED, STRING,
    engine: {
      __proto__: null, construct, ownKeys, set, species, toStringTag, Array, Error, JSON, Number, Object, Promise, Reflect,
      RegExp, Symbol, TypeError,
    },
  });
  const { keys, freeze } = Object;
  kept.request.keys = keys;
  kept.request.freeze = freeze;
})
