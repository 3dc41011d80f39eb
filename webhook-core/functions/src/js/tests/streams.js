// Each entry is a value and what it should be as JSON; those that differ are the body.
const refused = async (run) => { try { await run(); } catch (error) { return error.name + ": " + error.message; } return "no error"; };
const bytes = (text) => new TextEncoder().encode(text);
const through = (data, stream) => new Response(new Blob([data]).stream().pipeThrough(stream));
// gzip of "hello", made by Python.
const gzip = hex.decode("1f8b0800000000000203cb48cdc9c9070086a6103605000000", true);
const formats = ["gzip", "deflate", "deflate-raw"], long = "a text, ".repeat(5000);
const round = async (format) => {
  const packed = await through(long, new CompressionStream(format)).bytes();
  const text = await through(packed, new DecompressionStream(format)).text();
  return packed.length < 400 && text === long;
};
const written = async (chunks) => {
  const stream = new DecompressionStream("gzip"), writer = stream.writable.getWriter();
  for (const chunk of chunks) writer.write(chunk);
  writer.close().catch(() => {});
  return new Response(stream.readable).text();
};
const each = [];
for await (const chunk of new Blob([gzip]).stream().pipeThrough(new DecompressionStream("gzip"))) each.push(chunk.length);
let pulled = 0;
const counting = new ReadableStream({
  async pull(controller) {
    await new Promise((go) => setTimeout(go, 1));
    if (++pulled > 3) controller.close();
    else controller.enqueue(bytes("" + pulled));
  },
});
const reader = new ReadableStream({ start(c) { c.enqueue("a"); c.error(new Error("why")); } }).getReader();
const early = new ReadableStream({ start(c) { setTimeout(() => { c.enqueue(1); c.close(); }, 1); } }).getReader();
const both = await Promise.all([early.read(), early.read()]);
const taken = new Response("a"), answer = new Response(new Blob(["{\"n\":", "1}"], { type: "Text/JSON" }), { status: 201 });
const blob = new Blob(["aü", new Uint8Array([98]), new Blob(["c"])]);
const parts = new ReadableStream({ start(c) { c.enqueue(bytes("in two ")); c.enqueue(bytes("parts")); c.close(); } });
const fetched = await fetch("http://example.com/a", { method: "POST", body: parts });
const second = await fetch("http://example.com/a", { method: "POST", body: new Blob(["of a blob"], { type: "text/csv" }) });
const cases = [
  [await Promise.all(formats.map(round)), "[true,true,true]"],
  [await through(gzip, new DecompressionStream("gzip")).text(), '"hello"'],
  [await written([gzip]), '"hello"'],
  [await written([gzip.slice(0, 3), gzip.slice(3)]), '"hello"'],
  [await written([gzip, gzip]), '"hellohello"'],
  [each, "[5]"],
  [await refused(() => written([gzip.slice(0, 20)])), '"TypeError: not gzip: its end is missing"'],
  [await refused(() => written([bytes("{}")])), '"TypeError: not gzip: the data is damaged"'],
  [await refused(() => written(["text"])), '"TypeError: expected bytes, as new TextEncoder().encode(text) gives them"'],
  [await refused(() => new DecompressionStream("br")), '"TypeError: the format must be gzip, deflate or deflate-raw"'],
  [await new Response(counting).text(), '"123"'],
  [await refused(() => reader.read()), '"Error: why"'],
  [both.map((read) => [read.value, read.done]), "[[1,false],[null,true]]"],
  [[taken.bodyUsed, await taken.text(), taken.bodyUsed, taken.status, taken.ok, taken.headers.get("content-type")],
    '[false,"a",true,200,true,"text/plain;charset=UTF-8"]'],
  [await refused(() => taken.text()), '"TypeError: the body was read before"'],
  [await refused(() => new Response("", { status: 99 })), '"RangeError: the status must be 200 to 599"'],
  [await refused(() => new Response({})), '"TypeError: the body must be a text, bytes, URLSearchParams, a Blob or a ReadableStream"'],
  [[answer.status, answer.headers.get("content-type"), (await answer.clone().json()).n, await answer.text()],
    '[201,"text/json",1,"{\\"n\\":1}"]'],
  [[Response.json({ a: 1 }).headers.get("content-type"), await Response.json({ a: 1 }).text()], '["application/json","{\\"a\\":1}"]'],
  [[blob.size, await blob.text(), await blob.slice(1, 4).text(), (await blob.arrayBuffer()).byteLength, blob.type],
    '[5,"aübc","üb",5,""]'],
  [[(await (await new Response("abc").blob()).text()), new Response().body], '["abc",null]'],
  [[fetched instanceof Response, fetched.status, (await fetched.body.getReader().read()).value.length, await second.text()],
    '[true,201,7,"{\\"n\\":1}"]'],
  [String(new Blob()) + blob.stream() + Blob.name, '"[object Blob][object ReadableStream]Blob"'],
  [await (async () => { const s = blob.stream(); s.getReader(); return refused(() => s.getReader()); })(),
    '"TypeError: the stream has a reader already"'],
];
r.body = cases.filter(([value, json]) => JSON.stringify(value) !== json)
  .map(([value, json]) => `${JSON.stringify(value)} is not ${json}`).join("\n");
