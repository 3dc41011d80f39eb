// inputData is the payload; `output`, what is returned or given to `callback` is the new one, and an empty list stops.
(function ($, kept) {
  "use strict";
  const { hide, payload, setPayload } = kept, style = "a step of code";
  let given;
  hide(globalThis, "inputData", payload(style));
  hide(globalThis, "callback", (error, value) => {
    if (error) throw error;
    given = value;
  });
  return {
    run: (output) => output,
    take: (output = given) => {
      if (output === undefined || output === null) throw new TypeError(style + " must set output, or return the new payload");
      return output.length === 0 ? $.stop() : setPayload(style, output);
    },
  };
})
