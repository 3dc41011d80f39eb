// exports.handler(event, context, callback): an object with a statusCode is the answer, any other the new payload.
(function ($, kept) {
  "use strict";
  const { r, put, isObject, document, setPayload, answer, lowered } = kept, style = "exports.handler", given = document();
  const event = isObject(given) ? given : {}, http = { method: r.method, path: r.path };
  const parts = {
    body: r.body, headers: lowered(), httpMethod: r.method, path: r.path, rawPath: r.path, rawQueryString: r.rawQuery,
    queryStringParameters: { ...r.query }, pathParameters: {}, requestContext: { http }, isBase64Encoded: false,
  };
  for (const name in parts) if (!(name in event)) Object.defineProperty(event, name, { value: parts[name], writable: true, configurable: true });
  const called = (run) => new Promise((done, fail) => run(event, {}, (error, value) => error ? fail(error) : done(value)));
  return {
    run: (handler = kept.exports.handler) => handler.length > 2 ? called(handler) : handler(event, {}),
    take: (value) => {
      if (value === undefined || value === null) throw new TypeError(style + " must return an answer or the new payload");
      if (isObject(value) && "statusCode" in value) return answer(value.statusCode, value.headers, value.body, true);
      return setPayload(style, value);
    },
  };
})
