// export default defineComponent({ run({ steps, $ }) { … } }): what it returns is the new payload.
(function ($, kept) {
  "use strict";
  const { r, hide, document, setPayload, address, answer } = kept, style = "run({ steps, $ })";
  let exited = false;
  hide(globalThis, "defineComponent", (component) => component);
  const event = { method: r.method, path: r.path, query: { ...r.query }, headers: kept.lowered(), url: address(), body: document() };
  const flow = { exit: () => { exited = true; } };
  const respond = async (given) => { answer(given.status, given.headers, given.body); };
  return {
    run: (_, exported) => exported.default.run({ steps: { trigger: { event, context: {} } }, $: { flow, respond, export() {} } }),
    take: (value) => {
      if (exited || (value === undefined && kept.answered)) return $.stop();
      if (value === undefined || value === null) throw new TypeError(style + " must return the new payload");
      return setPayload(style, value);
    },
  };
})
