// The payload is the `json` of the one item; items that are returned are the new payload.
(function ($, kept) {
  "use strict";
  const { r, hide, payload, setPayload, put, isObject, env } = kept, style = "a code node", json = payload(style);
  // A webhook's node has these beside the payload.
  for (const [name, value] of [["body", json], ["headers", kept.lowered()], ["query", { ...r.query }]]) {
    if (isObject(json) && !(name in json)) Object.defineProperty(json, name, { value, writable: true, configurable: true });
  }
  const item = { json }, items = [item], first = () => item;
  for (const name in { items, $json: 1, $env: 1 }) hide(globalThis, name, { items, $json: json, $env: env }[name]);
  hide(globalThis, "$input", { all: () => items, first, last: first, item });
  return {
    run: () => undefined,
    take: (returned) => {
      const list = Array.isArray(returned) ? returned : [returned];
      for (const one of list) if (!isObject(one?.json)) throw new TypeError(style + " must return items, { json: … }");
      return list.length === 0 ? $.stop() : setPayload(style, list.length === 1 ? list[0].json : list.map((one) => one.json));
    },
  };
})
