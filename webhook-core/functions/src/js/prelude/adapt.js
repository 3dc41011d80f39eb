// What the adapters of other services' styles have in common. Answers what makes one by its name.
(function ($, kept) {
  "use strict";
  const { r, part, style: { payload, setPayload, document, put, isObject } } = kept;
  const { hide, web } = kept, { keys } = Object, { stringify, parse } = JSON;
  const env = kept.env();
  const lowered = () => {
    const all = {}, names = keys(r.headers);
    for (let i = 0; i < names.length; i++) all[names[i].toLowerCase()] = r.headers[names[i]];
    return all;
  };
  const address = () => (r.metadata.output_url || "https://" + (r.headers.host ?? "localhost")) + r.path + (r.rawQuery && "?" + r.rawQuery);
  // The answer to the sender, after which nothing may be left to forward.
  const answer = (status, headers, body, stops) => {
    kept.answered = true;
    r.responseStatus = status ?? 200;
    const names = keys(headers ?? {});
    for (let i = 0; i < names.length; i++) r.setResponseHeader(names[i], headers[names[i]]);
    if (body !== undefined && body !== null) r.responseBody = body;
    if (stops) $.stop();
  };
  // Requests and answers that a script makes itself.
  const messages = () => {
    const { Headers, fetch: send } = web();
    class Message {
      constructor(content, headers) { this.content = content ?? ""; this.headers = new Headers(headers); }
      get body() { return this.content; }
      async text() { return String(this.content); }
      async json() { return parse(this.content); }
    }
    class Request extends Message {
      constructor(input, init) {
        super(init?.body ?? input.content, init?.headers ?? input.headers);
        this.url = String(input.url ?? input);
        this.method = init?.method ?? input.method ?? "GET";
      }
      clone() { return new Request(this); }
    }
    class Response extends Message {
      static json(value, init) {
        return new Response(stringify(value), { ...init, headers: { "content-type": "application/json", ...init?.headers } });
      }
      constructor(body, init) { super(body?.content ?? body, init?.headers); this.status = init?.status ?? 200; }
      get ok() { return this.status >= 200 && this.status < 300; }
      clone() { return new Response(this.content, this); }
    }
    hide(globalThis, "Request", Request);
    hide(globalThis, "Response", Response);
    return { Request, Response, send };
  };
  Object.assign(kept, { payload, setPayload, document, put, isObject, env, lowered, address, answer, messages, answered: false });
  return (name, exported) => {
    kept.exports = exported;
    hide(globalThis, "exports", exported);
    hide(globalThis, "module", { get exports() { return exported; }, set exports(all) { Object.assign(exported, all); } });
    kept.adapter = part("style-" + name)();
  };
})
