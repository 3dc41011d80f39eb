// Each entry is a value and what it should be as JSON; those that differ are the body.
const fails = (run) => { try { run(); } catch (error) { return error.name; } return "no error"; };
const refused = async (run) => { try { await run(); } catch (error) { return error.name; } return "no error"; };
const bytes = (text) => new TextEncoder().encode(text), { subtle } = crypto;
const shown = (buffer) => hex.encode(new Uint8Array(buffer));
const address = new URL("../b?x=1&y=a+b#f", "https://me:pw@example.com:8443/a/c/");
const changed = new URL("http://example.com/p?a=1");
changed.searchParams.append("b", "x y");
changed.port = "81";
changed.hash = "end";
const replaced = new URL("http://example.com/?a=1"), { searchParams } = replaced;
replaced.search = "?c=3";
const query = new URLSearchParams([["a", 1], ["b", "x"], ["a", 2]]);
query.set("a", 3);
query.append("c", "ü&");
const hmacKey = await subtle.importKey("raw", bytes("Jefe"), { name: "HMAC", hash: "SHA-256" }, true, ["sign", "verify"]);
const mac = await subtle.sign("HMAC", hmacKey, bytes("what do ya want for nothing?"));
const aes = async (name, use) => subtle.importKey("raw", bytes("0123456789abcdef"), name, false, use ?? ["encrypt", "decrypt"]);
const gcm = { name: "AES-GCM", iv: new Uint8Array(12), additionalData: bytes("more") };
const cbc = { name: "AES-CBC", iv: new Uint8Array(16) };
const sealed = await subtle.encrypt(gcm, await aes("AES-GCM"), bytes("secret"));
const padded = await subtle.encrypt(cbc, await aes("AES-CBC"), bytes("secret"));
const cycle = { list: [1, , 3], at: new Date(0), map: new Map([["k", new Set([1])]]), bytes: new Uint8Array([1, 2]) };
cycle.self = cycle;
const copy = structuredClone(cycle);
const random = crypto.getRandomValues(new Uint32Array(4));
const answer = await fetch("http://example.com/a", { method: "post", headers: { "X-A": "1" }, body: "{}" });
const again = answer.clone();
const cases = [
  [[...new TextEncoder().encode("aü€😀\ud800")], "[97,195,188,226,130,172,240,159,152,128,239,191,189]"],
  [new TextEncoder().encodeInto("aü€", new Uint8Array(4)), '{"read":2,"written":3}'],
  [new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 97, 255])), '"a\ufffd"'],
  [new TextDecoder("UTF-8", { ignoreBOM: true }).decode(new Uint8Array([0xef, 0xbb, 0xbf]).buffer).length, "1"],
  [fails(() => new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([255]))), '"TypeError"'],
  [fails(() => new TextDecoder("utf-16le")), '"RangeError"'],
  [btoa("a\xff") + atob(" Yf8 ").length, '"Yf8=2"'],
  [[fails(() => btoa("€")), fails(() => atob("*"))], '["InvalidCharacterError","InvalidCharacterError"]'],
  [address.href, '"https://me:pw@example.com:8443/a/b?x=1&y=a+b#f"'],
  [[address.origin, address.protocol, address.username, address.password, address.host, address.hostname, address.port,
    address.pathname, address.search, address.hash].join("|"),
    '"https://example.com:8443|https:|me|pw|example.com:8443|example.com|8443|/a/b|?x=1&y=a+b|#f"'],
  [[address.searchParams.get("y"), address.searchParams.get("z"), `${address}` === address.toJSON()], '["a b",null,true]'],
  [changed.href, '"http://example.com:81/p?a=1&b=x+y#end"'],
  [[searchParams.get("a"), searchParams.get("c")], '[null,"3"]'],
  [[fails(() => new URL("x")), URL.canParse("x"), URL.parse("http://a").href], '["TypeError",false,"http://a/"]'],
  [query.toString(), '"a=3&b=x&c=%C3%BC%26"'],
  [[[...query].length, [...query.keys()].join(""), query.has("b", "x"), query.has("b", "y"), query.size], '[3,"abc",true,false,3]'],
  [new URLSearchParams({ a: "1 2" }).toString() + new URLSearchParams("?q=%20").get("q"), '"a=1+2 "'],
  [[copy !== cycle, copy.self === copy, copy.at.getTime(), copy.map.get("k").has(1), copy.bytes.join(), 1 in copy.list],
    '[true,true,0,true,"1,2",false]'],
  [fails(() => structuredClone({ f() {} })), '"DataCloneError"'],
  [shown(await subtle.digest("SHA-256", bytes("abc"))), '"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"'],
  [shown(await subtle.digest({ name: "sha-1" }, bytes("abc"))), '"a9993e364706816aba3e25717850c26c9cd0d89d"'],
  [shown(mac), '"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"'],
  [[await subtle.verify("HMAC", hmacKey, mac, bytes("what do ya want for nothing?")),
    await subtle.verify("HMAC", hmacKey, mac, bytes("nothing"))], "[true,false]"],
  [shown(await subtle.exportKey("raw", hmacKey)), '"4a656665"'],
  [[sealed.byteLength, new TextDecoder().decode(await subtle.decrypt(gcm, await aes("AES-GCM"), sealed))], '[22,"secret"]'],
  [[padded.byteLength, new TextDecoder().decode(await subtle.decrypt(cbc, await aes("AES-CBC"), padded))], '[16,"secret"]'],
  [(await subtle.sign("HMAC", await subtle.generateKey({ name: "HMAC", hash: "SHA-512" }, true, ["sign"]), bytes("a"))).byteLength, "64"],
  [(await subtle.sign("HMAC", await subtle.importKey("jwk", { kty: "oct", k: "SmVmZQ" }, { name: "HMAC", hash: "SHA-1" }, false,
    ["sign"]), bytes("a"))).byteLength, "20"],
  [await Promise.all([
    () => subtle.digest("MD5", bytes("a")), () => subtle.digest("SHA-256", "text"),
    () => subtle.importKey("raw", bytes("k"), "RSA-PSS", false, ["sign"]), () => aes("AES-CBC", ["sign"]),
    async () => subtle.encrypt(cbc, await aes("AES-CBC", ["decrypt"]), bytes("a")),
    async () => subtle.exportKey("raw", await aes("AES-CBC")),
    async () => subtle.decrypt(gcm, await aes("AES-GCM"), new Uint8Array(22)),
    async () => subtle.encrypt({ ...gcm, iv: new Uint8Array(16) }, await aes("AES-GCM"), bytes("a")),
    () => subtle.sign("HMAC", {}, bytes("a")),
  ].map(refused)), '["NotSupportedError","TypeError","NotSupportedError","SyntaxError","InvalidAccessError",' +
    '"InvalidAccessError","OperationError","OperationError","TypeError"]'],
  [/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()), "true"],
  [[random.length, random.some((n) => n > 0), fails(() => crypto.getRandomValues(new Uint8Array(65537)))], '[4,true,"TypeError"]'],
  [[answer.status, answer.ok, answer.headers.get("X-B"), answer.url, await answer.text(), answer.bodyUsed,
    (await again.arrayBuffer()).byteLength], '[201,true,"2","http://example.com/a","{\\"n\\":1}",true,7]'],
  [(await (await fetch(new URL("http://example.com/a"))).json()).n, "1"],
  [await Promise.all([
    () => answer.json(), () => fetch("http://nobody.example"), () => fetch("http://example.com/a", { body: {} }),
    () => fetch("http://example.com/a", { signal: {} }), () => fetch("file:///etc/passwd"),
  ].map(refused)), '["TypeError","TypeError","TypeError","TypeError","TypeError"]'],
  [[...new Headers({ B: "1", a: "2" })], '[["a","2"],["b","1"]]'],
  [Object.prototype.toString.call(address), '"[object URL]"'],
];
r.body = cases.filter(([value, json]) => JSON.stringify(value) !== json)
  .map(([value, json]) => `${JSON.stringify(value)} is not ${json}`).join("\n");
