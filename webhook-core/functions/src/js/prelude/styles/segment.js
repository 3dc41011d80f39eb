// onRequest(request, settings): the events that it sends are the new payload.
(function ($, kept) {
  "use strict";
  const { r, hide, payload, setPayload, address, env } = kept, { Headers } = kept.web(), style = "onRequest(request, settings)";
  const events = [], Segment = { set: (object) => { events.push({ type: "set", ...object }); } };
  for (const type of ["track", "identify", "group", "page", "screen", "alias"]) {
    Segment[type] = (event) => { events.push({ type, ...event }); };
  }
  hide(globalThis, "Segment", Segment);
  for (const name of ["EventNotSupported", "InvalidEventPayload", "ValidationError", "RetryError", "DropEvent"]) {
    hide(globalThis, name, class extends Error { get name() { return name; } });
  }
  const request = { headers: new Headers(r.headers), url: address(), json: () => payload(style), text: () => r.body };
  return {
    run: (onRequest) => onRequest(request, env),
    take: () => events.length > 0 ? setPayload(style, events.length === 1 ? events[0] : events) : $.stop(),
  };
})
