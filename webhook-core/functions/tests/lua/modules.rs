//! The modules that `require` finds.

use crate::harness::{failure, output};

async fn prints(source: &str, wanted: &[&str]) {
    assert_eq!(output(source).await, wanted, "{source}");
}

#[tokio::test]
async fn json_keeps_integers_nulls_and_empty_objects() {
    prints(
        r##"
        local json = require("json")
        local t = json.decode('{"i":1,"f":1.0,"s":"ä\\n","n":null,"b":true,"l":[1,[],{}],"o":{},"big":12345678901234567890}')
        print(t.i, math.type(t.i), t.f, math.type(t.f), t.s, t.n == json.null, tostring(t.n), t.b, #t.l)
        print(json.encode(t))
        print(json.encode({}), json.encode({1, 2, {a = "x"}}), json.encode({[7] = 1, [1001] = 2, [1002] = 3}), json.encode("q\"\n"))
        print(json.encode({z = 1, a = {n = json.null}, m = 2.5}), json.encode(nil), json.encode(1e15), json.encode(-0.5))
        print(json.decode("{"))
        print(json.decode(""))
        print(json.encode({f = print}))
        print(json.encode(0/0))
        local loop = {} loop.loop = loop
        print(json.encode(loop))
        t.o.x = 1
        print(json.encode(t.o))
        "##,
        &[
            "1\tinteger\t1.0\tfloat\tä\n\ttrue\tnull\ttrue\t3",
            r#"{"b":true,"big":12345678901234567890,"f":1.0,"i":1,"l":[1,[],{}],"n":null,"o":{},"s":"ä\n"}"#,
            "[]\t[1,2,{\"a\":\"x\"}]\t{\"1001\":2,\"1002\":3,\"7\":1}\t\"q\\\"\\n\"",
            r#"{"a":{"n":null},"m":2.5,"z":1}	null	1000000000000000.0	-0.5"#,
            "nil\tjson: eof while parsing an object at line 1 column 1",
            "nil\tjson: eof while parsing a value at line 1 column 0",
            "nil\tjson: a function cannot be encoded",
            "nil\tjson: NaN and infinity cannot be encoded",
            "nil\tjson: more than 100 tables inside one another, or a circle",
            r#"{"x":1}"#,
        ],
    )
    .await;
}

#[tokio::test]
async fn a_list_with_holes_is_not_encoded() {
    prints(
        r##"
        local json, yaml = require("json"), require("yaml")
        print(json.encode({1, nil, 3}))
        print(json.encode({nil, 2}))
        print(json.encode({list = {[10] = 1}}))
        print(json.encode({[11] = 1}), json.encode({1, json.null, 3}), json.encode({1, nil, 3, x = 1}))
        print(yaml.encode({1, nil, 3}))
        "##,
        &[
            "nil\tjson: a list with holes, index 2 of 3 is nil (json.null stands for null)",
            "nil\tjson: a list with holes, index 1 of 2 is nil (json.null stands for null)",
            "nil\tjson: a list with holes, index 1 of 10 is nil (json.null stands for null)",
            r#"{"11":1}	[1,null,3]	{"1":1,"3":3,"x":1}"#,
            "nil\ta list with holes, index 2 of 3 is nil (json.null stands for null)",
        ],
    )
    .await;
}

#[tokio::test]
async fn the_reason_of_a_failure_is_in_the_message_of_the_function_that_gets_nil() {
    for (source, wanted) in [
        (
            "local json = require('json')\nr:SetRequestBody(json.encode({f = print}))",
            "function:2: bad argument #1 to 'SetRequestBody' (string expected, got nil: json: a function cannot be encoded)",
        ),
        (
            "local json = require('json')\nr:SetRequestHeader('x', json.encode({1, nil, 3}))",
            "got nil: json: a list with holes, index 2 of 3 is nil (json.null stands for null))",
        ),
        (
            "local json = require('json')\nlocal s = 'x' .. json.encode(0/0)",
            "function:2: attempt to concatenate a nil value: json: NaN and infinity cannot be encoded",
        ),
        (
            "local json = require('json')\nlocal name = json.decode('{').user.name",
            "function:2: attempt to index a nil value: json: eof while parsing an object",
        ),
        // On another line it may be any nil.
        (
            "local json = require('json')\nlocal s = json.encode(0/0)\nr:SetRequestBody(s)",
            "function:3: bad argument #1 to 'SetRequestBody' (string expected, got nil)",
        ),
    ] {
        let error = failure(source).await.to_string();
        assert!(error.contains(wanted), "{source}\n{error}");
    }
}

#[tokio::test]
async fn random_bytes_and_uuids_are_new_each_time() {
    prints(
        r##"
        local crypto = require("crypto")
        print(#crypto.random_bytes(0), #crypto.random_bytes(16), #crypto.random_bytes(65536))
        print(crypto.random_bytes(16) ~= crypto.random_bytes(16), crypto.uuid() ~= crypto.uuid())
        local id = crypto.uuid()
        print(#id, id:match("^%x+%-%x+%-4%x+%-[89ab]%x+%-%x+$") == id)
        "##,
        &["0\t16\t65536", "true\ttrue", "36\ttrue"],
    )
    .await;
    for count in ["-1", "65537", "2^62"] {
        let source =
            format!("local crypto = require('crypto') local b = crypto.random_bytes({count})");
        let error = failure(&source).await.to_string();
        let wanted = "bad argument #1 to 'random_bytes' (expected 0 to 65536 bytes)";
        assert!(error.contains(wanted), "{error}");
    }
}

#[tokio::test]
async fn checksums_and_ciphers() {
    prints(
        r##"
        local crypto = require("crypto")
        print(crypto.md5("abc"), crypto.crc32("123456789"), #crypto.sha256("abc"), #crypto.sha512("", true))
        print(crypto.sha1("abc"))
        print(crypto.hmac("sha256", "what do ya want for nothing?", "Jefe"))
        print(#crypto.hmac("sha256", "x", "k", true), crypto.hmac("nope", "x", "k"))
        print(crypto.base64_encode("a?>"), crypto.base64_url_encode("a?>"), crypto.base64_decode("YT8+"), crypto.base64_url_decode("YT8-"))
        local key, iv = "0123456789abcdef", "fedcba9876543210"
        local secret = crypto.encrypt("attack at dawn", "aes-cbc", key, nil, iv)
        print(secret, crypto.decrypt(secret, "aes-cbc", key, nil, iv))
        print(#crypto.encrypt("x", "aes-cbc", key, {raw = true}, iv), crypto.decrypt("AAAA", "aes-cbc", "short", nil, iv))
        print(crypto.equal("a", "a"), crypto.equal("a", "b"))
        "##,
        &[
            "900150983cd24fb0d6963f7d28e17f72\tcbf43926\t64\t64",
            "a9993e364706816aba3e25717850c26c9cd0d89d",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            "32\tnil\tunknown algorithm \"nope\"",
            "YT8+\tYT8-\ta?>\ta?>",
            "SaEcOZ2TrO683BP265Zhlw==\tattack at dawn",
            "16\tnil\tthe key must have 16, 24 or 32 bytes, the iv 16",
            "true\tfalse",
        ],
    )
    .await;
}

#[tokio::test]
async fn encodings_and_addresses() {
    prints(
        r##"
        local base64, hex, url = require("base64"), require("hex"), require("url")
        print(base64.encode("\0\255"), base64.decode("AP8="):byte(1, -1))
        print(base64.decode("***"))
        print(hex.encode("\0\255"), hex.decode("00ff"):byte(1, -1))
        print(hex.decode("0"))
        local u = url.parse("https://u:p@h.example:8443/a/b?x=1&y=2#f")
        print(u.scheme, u.user, u.pass, u.host, u.port, u.path, u.query, u.fragment)
        print(url.build(u), url.build({scheme = "http", host = "h", query = {b = 2, a = "x y"}}))
        print(url.encode("a b/ü"), url.decode("a%20b+c"), url.encode_query({a = 1, b = {2, 3}}), url.decode_query("a=1&a=2&b=%20").a[2])
        print(url.parse("nope"))
        "##,
        &[
            "AP8=\t0\t255",
            "nil\tnot base64: invalid symbol 42, offset 0.",
            "00ff\t0\t255",
            "nil\tnot hex: odd number of digits",
            "https\tu\tp\th.example\t8443\t/a/b\tx=1&y=2\tf",
            "https://u:p@h.example:8443/a/b?x=1&y=2#f\thttp://h/?a=x+y&b=2",
            "a%20b%2F%C3%BC\ta b c\ta=1&b=2&b=3\t2",
            "nil\turl: relative URL without a base",
        ],
    )
    .await;
}

#[tokio::test]
async fn times_in_the_layouts_of_go() {
    prints(
        r##"
        local time = require("time")
        print(time.format(0), time.format(1700000000, "2006-01-02 15:04:05", "Europe/Berlin"), time.format(1.5, "05.000"))
        print(time.parse("2023-11-14T22:13:20Z", "2006-01-02T15:04:05Z07:00"), time.parse("14.11.2023 23:13", "02.01.2006 15:04", "Europe/Berlin"))
        print((time.parse("nope", "2006")), (time.format(0, "2006", "Nowhere/Land")))
        local before = time.unix_nano()
        time.sleep(0.02)
        print(time.unix_nano() - before >= 19000000, time.unix() > 1600000000)
        print(os.date("!%Y-%m-%d", 0), os.time({year = 1970, month = 1, day = 2, hour = 0}), os.difftime(5, 3), os.clock() >= 0)
        print(pcall(time.sleep, -1))
        "##,
        &[
            "1970-01-01T00:00:00Z\t2023-11-14 23:13:20\t01.500",
            "1700000000\t1699999980",
            "nil\tnil",
            "true\ttrue",
            "1970-01-01\t86400\t2.0\ttrue",
            "false\tbad argument #1 to 'sleep' (not a number of seconds)",
        ],
    )
    .await;
}

#[tokio::test]
async fn tokens() {
    prints(
        r##"
        local jwt = require("jwt")
        local token = jwt.sign({sub = "me", exp = 4102444800}, "secret", "HS256")
        local claims = jwt.verify(token, "secret", {"HS256"})
        print(claims.sub, math.type(claims.exp), (jwt.verify(token, "wrong", {"HS256"})))
        print(jwt.verify(token, "secret", {"RS256"}))
        print(jwt.verify(jwt.sign({exp = 1}, "k"), "k"))
        print(jwt.sign({}, "k", "none"))
        "##,
        &[
            "me\tinteger\tnil",
            "nil\tjwt: signed with HS256, which is not allowed",
            "nil\tjwt: the token has expired",
            "nil\tjwt: unknown algorithm \"none\"",
        ],
    )
    .await;
}

#[tokio::test]
async fn documents() {
    prints(
        r##"
        local xml, yaml, csv, json = require("xml"), require("yaml"), require("csv"), require("json")
        local doc = xml.decode('<order id="7"><item>a</item><item>b</item><note>x &amp; y</note></order>')
        print(doc.order["-id"], doc.order.item[2], doc.order.note, #doc.order.item)
        print(xml.encode({order = {["-id"] = 1, item = {"a", "b"}, ["#text"] = "t"}}))
        print(xml.decode("<a>"))
        print(json.encode(yaml.decode("a: 1\nb: [x, 2.5, true]\nc: null\n")))
        print((yaml.encode({a = {1, "two"}}):gsub("\n", "|")))
        print((yaml.decode("a: [")))
        print(json.encode(csv.decode("a,b\n1,\"x, y\"\n")), json.encode(csv.decode("a;b\n1;2\n", {header = true, delimiter = ";"})))
        print((csv.encode({{"a", 1}, {"b,c", true}}):gsub("\n", "|")))
        "##,
        &[
            "7\tb\tx & y\t2",
            "<order id=\"1\">t<item>a</item><item>b</item></order>",
            "nil\txml: the root element is missing or not closed",
            r#"{"a":1,"b":["x",2.5,true],"c":null}"#,
            "a:|- 1|- two|",
            "nil",
            r#"[["a","b"],["1","x, y"]]	[{"a":"1","b":"2"}]"#,
            "a,1|\"b,c\",true|",
        ],
    )
    .await;
}

#[tokio::test]
async fn only_modules_can_be_required() {
    let error = failure("require('os')").await.to_string();
    assert_eq!(
        error,
        "function:1: module 'os' not found: os.time and os.date are there without it"
    );
    prints("print(require('json') == require('json'))", &["true"]).await;
}

#[tokio::test]
async fn compressed_data_is_read_and_made() {
    prints(
        r#"
        local gzip, hex = require("gzip"), require("hex")
        local made = hex.decode("1f8b0800000000000203cb48cdc9c9070086a6103605000000")
        print(gzip.decompress(made), gzip.decompress(made .. made))
        for _, format in ipairs({"gzip", "deflate", "deflate-raw"}) do
          local packed = gzip.compress(("a text, "):rep(1000), format)
          print(#packed < 200, #gzip.decompress(packed, format))
        end
        print(gzip.decompress(made:sub(1, 9)))
        print(gzip.decompress("{}"))
        print(gzip.compress("a", "br"))
        "#,
        &[
            "hello\thellohello",
            "true\t8000",
            "true\t8000",
            "true\t8000",
            "nil\tgzip: not gzip: its end is missing",
            "nil\tgzip: not gzip: the data is damaged",
            "nil\tgzip: the format must be gzip, deflate or deflate-raw",
        ],
    )
    .await;
}

#[tokio::test]
async fn jmespath_template_and_id() {
    prints(
        r##"
        local json, jmespath, template, id = require("json"), require("jmespath"), require("template"), require("id")
        local t = json.decode('{"items":[{"sku":"a","n":1},{"sku":"b","n":820982911946154508123}],"price":19.90,"o":{}}')
        print(json.encode(jmespath.search("items[?n > `1`]", t)), jmespath.search(t, "items[0].sku"))
        print(json.encode(jmespath.search("{p: price, o: o, none: bad}", t)))
        print(jmespath.search("missing", t) == json.null, jmespath.search("length(items)", t))
        print(jmespath.search("items[", t))
        print(jmespath.search("a", print))
        print(template.render("{{#items}}{{sku}}={{n}};{{/items}}{{price}}", t))
        print(template.render('{"a":"{{a}}"}', {a = '"'}, "json"))
        print(template.render("\n{{#items}}", t))
        print(template.render("", t, "xml"))
        print(#id.uuid(), id.uuid():sub(15, 15), id.uuid_v7():sub(15, 15), #id.ulid(), #id.nano_id(), #id.nano_id(5))
        print(id.nano_id(0))
        print(id.nano_id(257))
        print(id.ulid() ~= id.ulid())
        "##,
        &[
            r#"[{"n":820982911946154508123,"sku":"b"}]	a"#,
            r#"{"none":null,"o":{},"p":19.90}"#,
            "true\t2",
            "nil\tjmespath: the expression ends too early",
            "nil\tjmespath: a function cannot be encoded",
            "a=1;b=820982911946154508123;19.90",
            r#"{"a":"\""}"#,
            "nil\ttemplate: line 2: {{#items}} has no {{/items}}",
            "nil\ttemplate: \"xml\" is no way to write values: leave it out, or write \"json\" or \"html\"",
            "36\t4\t7\t26\t21\t5",
            "nil\tid: the length must be 1 to 256",
            "nil\tid: the length must be 1 to 256",
            "true",
        ],
    )
    .await;
}

#[tokio::test]
async fn jmespath_and_templates_end_at_the_limits_of_a_call() {
    let many = "local t = {} for i = 1, 1000 do t[i] = i end ";
    for (source, limits) in [
        // Which one is reached first depends on how busy the machine is.
        (
            "require('jmespath').search('[@,@]' .. (' | [@,@]'):rep(60), t)",
            ["string size", "compute time"],
        ),
        (
            "require('template').render(('{{#a}}'):rep(3) .. '{{b}}' .. ('{{/a}}'):rep(3), {a = t})",
            ["compute time"; 2],
        ),
    ] {
        let error = failure(&format!("{many}{source}")).await.to_string();
        assert!(limits.iter().any(|limit| error.contains(limit)), "{source}: {error}");
    }
}
