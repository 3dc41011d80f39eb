// The request of a script, `r`: leaves in `kept` the function that takes over what `transform(r)` returned, and what other
// parts need as well. What most scripts do with `r` is here, and the rest of it in `fields`. It comes before what bounds the
// library, which a bare engine reads when something here needs it; no script that could spoil the library runs without it.
(function ($) {
  "use strict";
  const { Proxy } = globalThis, { defineProperty } = Object;
  const kept = { __proto__: null, added: undefined, bytesExist: false, bounded: false, guarded: false };
  const core = () => { if (!kept.bounded) $.part("core", $)($, kept); };
  const guard = () => {
    core();
    if (!kept.guarded) $.part("guard", $)($, kept);
  };
  const text = (value) => {
    // A longer text takes time to be looked through.
    if (!kept.bounded && value.length < 1024) return value.toWellFormed();
    core();
    return kept.text(value);
  };
  const setHeader = (answer, name, value) => {
    if (typeof value === "string" && typeof name === "string") $.setHeader(answer, text(name), text(value));
    else fields().setHeader(answer, name, value);
  };

  // Bodies are made when they are read. One that is set to what was read stays
  // byte for byte as it came.
  const read = { __proto__: null, true: undefined, false: undefined };
  const body = (answer) => {
    leaks();
    return (read[answer] ??= $.body(answer) ?? undefined);
  };
  // Has fields of texts be errors from when a script has the body, and answers what tells what it deletes from.
  let watching = false;
  const leaks = () => {
    kept.leaking ??= $.part("leaks", $)($, kept, read);
    if (!watching) kept.leaking.watch(watching = true);
    return kept.leaking.check;
  };
  const putBody = (answer, value) => {
    $.setBody(answer, text(value));
    changed(answer);
  };
  const changed = (answer) => {
    read[answer] = undefined;
    if (!answer) seen.form = seen.parts = undefined;
  };
  const setBody = (answer, value) => {
    if (typeof value === "string") {
      if (value !== read[answer]) putBody(answer, value);
    } else {
      core();
      kept.setObject(answer, value);
    }
  };

  // What was made of the request when it was read.
  const seen = { __proto__: null }, methods = { __proto__: null };
  // `rest` has what every object has, and what a script defines beside. The guard adds what is asked of `r` seldom: in a
  // bare engine a script only reads and sets fields.
  const rest = {}, traps = {
    __proto__: null,
    get: (_, name) => {
      switch (name) {
        case "body": case "RequestBody": return body(false);
        case "method": case "RequestMethod": return $.line("method");
        case "path": case "RequestPath": return $.line("path");
        case "rawQuery": case "RequestRawQuery": return $.line("rawQuery");
        case "setBody": case "SetRequestBody": return (methods[name] ??= (value) => setBody(false, value));
        case "setHeader": case "SetRequestHeader":
          return (methods[name] ??= (name, value) => setHeader(false, name, value));
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
  };
  const r = new Proxy(rest, traps);
  let used = false;
  defineProperty(globalThis, "r", { get: () => { used = true; return r; }, configurable: true });

  // What the end of a script calls with what the script declares. Where it declares nothing and has used `r`, that is all.
  const declared = (transform, handler) => {
    if (transform && !kept.added && !kept.adapter) {
      // Where nothing is bounded no script has spoilt the function that tells the text.
      if (!$.takesPayload(kept.bounded ? kept.functionText(transform) : transform.toString())) {
        return transform.length > 1 ? transform(r, fields().context()) : transform(r);
      }
    } else if (used && !handler && !kept.added && !kept.adapter) return undefined;
    guard();
    return kept.ended(transform, handler, used);
  };
  // What takes over the result; null drops the webhook.
  const finish = (value) => {
    if (value === null) $.stop();
    else if (value !== r && value !== undefined) fields().taken(value);
  };

  let made;
  const fields = () => {
    guard();
    return (made ??= $.part("fields", $)($, kept));
  };
  // Takes back what a call has left in the prelude, before the engine serves another one. Parts with more of it add a function.
  kept.again = [() => {
    read.true = read.false = seen.form = seen.parts = kept.added = kept.payload = undefined;
    if (watching) kept.leaking.watch(watching = false);
    for (const name in methods) delete methods[name];
    used = false;
    kept.finish = finish;
  }];
  kept.request = { __proto__: null, body, changed, methods, putBody, rest, seen, setBody, traps };
  kept.setHeader = setHeader;
  kept.r = r;
  kept.declared = declared;
  kept.leaks = leaks;
  kept.finish = finish;
  kept.guard = guard;
  kept.fields = fields;
  return kept;
})
