// The globals of a script: r, cfg and console. Leaves in `kept` the function
// that takes over what `transform(r)` returned, and what other parts need as well.
// What most scripts do with `r` is here, and the rest of it in `fields`.
(function ($, kept) {
  "use strict";
  const { Proxy, String, apply, defineProperty, hide, paying, lazily, part } = kept;
  const { JSON, Object: { keys, freeze }, Promise, TypeError } = kept.engine, { stringify } = JSON;
  const toWellFormed = paying(String.prototype.toWellFormed);
  const text = (value) => apply(toWellFormed, String(value), []);
  const setHeader = (answer, name, value) => {
    if (typeof value === "string") $.setHeader(answer, text(name), text(value));
    else fields().setHeader(answer, name, value);
  };

  // Bodies are made when they are read. One that is set to what was read stays
  // byte for byte as it came.
  const read = [undefined, undefined];
  const body = (answer) => (read[+answer] ??= $.body(answer) ?? undefined);
  const putBody = (answer, value) => {
    $.setBody(answer, text(value));
    changed(answer);
  };
  const changed = (answer) => {
    read[+answer] = undefined;
    if (!answer) seen.form = seen.parts = undefined;
  };
  const setBody = (answer, value) => {
    if (typeof value === "string") {
      if (value !== read[+answer]) putBody(answer, value);
    } else if (typeof value !== "object" || value === null || value instanceof Promise || kept.bytesExist) {
      fields().setBody(answer, value);
    } else {
      // There are no bytes yet, so it is none.
      const json = stringify(value);
      if (json === undefined) throw new TypeError("the body cannot be written as JSON");
      putBody(answer, json);
    }
  };

  // What was made of the request when it was read.
  const seen = { __proto__: null }, methods = { __proto__: null };
  // `rest` has what every object has, and what a script defines beside. What is asked of `r` seldom is in `traps`.
  const rest = {}, traps = new Proxy({ __proto__: null }, { __proto__: null, get: (_, name) => fields().traps[name] });
  const r = new Proxy(rest, {
    __proto__: traps,
    get: (_, name) => {
      switch (name) {
        case "body": case "RequestBody": return body(false);
        case "method": case "RequestMethod": return $.method();
        case "path": case "RequestPath": return $.path();
        case "rawQuery": case "RequestRawQuery": return $.rawQuery();
        case "setBody": case "SetRequestBody": return (methods[name] ??= (value) => setBody(false, value));
        case "setHeader": case "SetRequestHeader":
          return (methods[name] ??= (header, value) => setHeader(false, header, value));
        case "stopForwarding": case "StopForwarding": return (methods[name] ??= () => $.stop());
        // Looked for by the language itself: in what is awaited, and in what is written as JSON.
        case "then": case "toJSON": return rest[name];
        default: return fields().get(name);
      }
    },
    set: (_, name, value) => {
      if (name === "body") setBody(false, value);
      else fields().set(name, value);
      return true;
    },
  });

  lazily((name) => fields().named(name), ["cfg", "console", "process", "addHandler"]);
  let used = false;
  defineProperty(globalThis, "r", {
    __proto__: null,
    get: () => { used = true; return r; },
    set: (value) => { hide(globalThis, "r", value); },
    enumerable: false, configurable: true,
  });

  // What the end of a script calls with what the script declares, and what takes over the result.
  const { toString: functionText } = Function.prototype;
  let take = (returned) => {
    if (returned !== r && returned !== undefined && returned !== null) fields().taken(returned);
  };
  kept.request = { __proto__: null, body, changed, freeze, keys, methods, putBody, rest, seen, setBody };
  kept.text = text;
  kept.setHeader = setHeader;
  kept.r = r;
  kept.added = undefined;
  kept.declared = (transform, handler) => {
    if (!kept.added && transform && !$.takesPayload(apply(functionText, transform, []))) return transform(r);
    if (kept.added || transform || (handler && !used)) {
      fields();
      return part("styles")()(kept.added, transform, handler, (f) => { take = f; });
    }
    if (!used && $.onlyDeclares()) {
      throw new TypeError("the script declares functions and does nothing with the webhook: use r, or declare " +
        "transform(r), transform(payload), handler(webhook) or addHandler(\"transform\", …)");
    }
    return undefined;
  };
  kept.finish = (returned) => take(returned);

  let made;
  const fields = () => (made ??= $.part("fields")($, kept));
  const modules = part("modules"), web = part("web");
  lazily(() => { fields(); return modules(); }, [
    "http", "crypto", "base64", "hex", "url", "jwt", "xml", "yaml", "csv", "kv", "time",
  ]);
  lazily(() => { fields(); modules(); return web(); }, [
    "URL", "URLSearchParams", "TextEncoder", "TextDecoder", "Headers", "atob", "btoa", "structuredClone", "fetch",
  ]);
})
