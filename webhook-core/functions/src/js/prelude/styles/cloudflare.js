// A worker: fetch(request) forwards the webhook, any other Response is the answer, and nothing is forwarded.
(function ($, kept) {
  "use strict";
  const { r, hide, address, answer, env, messages } = kept, handlers = [], own = address();
  const { Request, Response, send } = messages(), forwarded = new Response("", { status: 202 }); let forwards = false;
  hide(globalThis, "fetch", async (input, init) => {
    const asked = new Request(input, init);
    if (asked.url !== own) return send(asked.url, { method: asked.method, headers: asked.headers, body: asked.content || undefined });
    forwards = true;
    r.method = asked.method;
    r.headers = Object.fromEntries(asked.headers);
    if (asked.content !== r.body) r.body = asked.content;
    return forwarded;
  });
  hide(globalThis, "addEventListener", (name, handler) => { if (name === "fetch") handlers.push(handler); });
  const request = new Request(own, { method: r.method, headers: r.headers, body: r.body }), context = { waitUntil() {}, passThroughOnException() {} };
  const respond = (handler) => new Promise((respondWith) => handler({ request, respondWith, type: "fetch", ...context }));
  const run = (_, exported) => handlers.length > 0 ? respond(handlers[0]) : exported.default.fetch(request, env, context);
  return { run, take: (given) => forwards ? undefined : answer(given.status, Object.fromEntries(given.headers), given.content, true) };
})
