// transformEvent(event, metadata) and transformBatch(events, metadata) return events; nothing drops the webhook.
(function ($, kept) {
  "use strict";
  const { r, hide, payload, setPayload, env } = kept, style = "transformEvent(event, metadata)";
  hide(globalThis, "log", kept.print);
  hide(globalThis, "getCredential", (key) => env[key]);
  const metadata = () => ({
    sourceId: r.metadata.input_id, sourceName: r.metadata.input_name, destinationId: r.metadata.output_id,
    destinationName: r.metadata.output_name,
  });
  return {
    run: async (transform, exported, batch) => {
      if (!batch) return transform(payload(style), metadata);
      const events = await batch([payload(style)], metadata);
      return events?.length > 1 ? events : events?.[0];
    },
    take: (event) => event === undefined || event === null ? $.stop() : setPayload(style, event),
  };
})
