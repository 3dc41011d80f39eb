//! Names and signs of other places, and what to write here.

use crate::list::list_of;

/// A name or a sign of another place, and the text that says what to write.
type Table = &'static [(&'static str, &'static str)];

/// The message for a source with types.
pub(crate) const TYPESCRIPT: &str =
    "this is TypeScript: leave out the types, such as \": number\" and interfaces";

/// The types of TypeScript.
pub(crate) const TYPES: [&str; 10] =
    list_of("string number boolean any unknown void never object Record Promise");

/// Whether a type stands behind a colon on a line that is no Lua.
#[cfg(feature = "lua")]
pub(crate) fn has_type(line: &str) -> bool {
    line.split(':').skip(1).map(str::trim_start).any(|behind| {
        let end = behind.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (word, rest) = behind.split_at(end.unwrap_or(behind.len()));
        TYPES.contains(&word) && !rest.trim_start().starts_with(['(', '"', '\'', '{'])
    })
}

/// Packages of Node.js, by their names.
#[cfg(feature = "js")]
const PACKAGES: Table = &[
    ("crypto", "crypto.hmac(\"sha256\", text, key) and crypto.sha256(text) are there"),
    ("node:crypto", "crypto.hmac(\"sha256\", text, key) and crypto.sha256(text) are there"),
    ("axios", "fetch(url, { method, headers, body }) is there"),
    ("node-fetch", "fetch(url, { method, headers, body }) is there"),
    ("@pipedream/platform", "fetch(url, { method, headers, body }) is there"),
    ("request", "fetch(url, { method, headers, body }) is there"),
    ("https", "fetch(url, { method, headers, body }) is there"),
    ("http", "fetch(url, { method, headers, body }) is there"),
    ("buffer", "base64.encode(text), base64.decode(text) and hex.encode(text) are there"),
    ("jsonwebtoken", "jwt.sign(claims, key, \"HS256\") and jwt.verify(token, key) are there"),
    ("querystring", "url.decode_query(text) and URLSearchParams are there"),
    ("url", "URL and URLSearchParams are there"),
    ("uuid", "crypto.randomUUID() is there"),
    ("xml2js", "xml.decode(text) and xml.encode(value) are there"),
    ("js-yaml", "yaml.decode(text) and yaml.encode(value) are there"),
    ("csv-parse/sync", "csv.decode(text, { header: true }) is there"),
    ("moment", "time.format(seconds, layout, zone) and Date are there"),
    ("lodash", "the methods of lists and Object are there"),
    ("jmespath", "jmespath.search(expression, value) is there without it"),
    ("mustache", "template.render(text, values, \"html\") is there"),
    ("handlebars", "template.render(text, values, \"html\") is there"),
    ("ulid", "id.ulid() is there"),
    ("nanoid", "id.nanoId(length) is there"),
    ("mailgun", "it is not available; http.post(url, options) reaches the API of the service"),
    ("bigquery", "it is not available; http.post(url, options) reaches the API of the service"),
    ("secure", "it is not available; cfg.get(\"KEY\") reads a secret, and crypto is there"),
    ("data", "it is not available; kv.get(key) and kv.set(key, value, seconds) are there"),
];

/// Names that scripts in JavaScript use elsewhere.
#[cfg(feature = "js")]
const IN_JS: Table = &[
    (
        "Buffer",
        "write base64.encode(text), base64.decode(text) or hex.encode(text); bytes are a Uint8Array",
    ),
    ("crypto.createHmac", "write crypto.hmac(\"sha256\", text, key), which gives hex"),
    ("crypto.createHash", "write crypto.sha256(text), which gives hex"),
    ("axios", "write fetch(url, { method, headers, body })"),
    ("axios.get", "write fetch(url)"),
    ("axios.post", "write fetch(url, { method: \"POST\", body })"),
    ("XMLHttpRequest", "write fetch(url, { method, headers, body })"),
    ("setInterval", "write a loop with await new Promise((f) => setTimeout(f, 10))"),
    ("_", "write methods of lists and Object, such as list.map(f) and Object.keys(object)"),
    ("moment", "write time.format(seconds, layout, zone), or use Date"),
    ("Intl", "write toFixed, or time.format(seconds, layout, zone)"),
    ("window", "write globalThis"),
    ("global", "write globalThis"),
    ("print", "write console.log(value)"),
    ("event", "write r, or declare handler(webhook)"),
    ("request", "write r, or addHandler(\"transform\", (request) => request)"),
    ("StoreClient", "write kv.get(key) and kv.set(key, value, seconds)"),
    ("$getWorkflowStaticData", "write kv.get(key) and kv.set(key, value, seconds)"),
    ("nil", "write null or undefined"),
    ("mailgun", "it is not available: http.post(url, options) reaches the API of the service"),
    ("bigquery", "it is not available: http.post(url, options) reaches the API of the service"),
    ("secure", "it is not available: cfg.get(\"KEY\") reads a secret, and crypto is there"),
    ("Mustache.render", "write template.render(text, values, \"html\")"),
    ("Mustache", "write template.render(text, values, \"html\")"),
    ("Handlebars", "write template.render(text, values, \"html\")"),
    ("ulid", "write id.ulid()"),
    ("nanoid", "write id.nanoId(length)"),
    ("uuidv4", "write id.uuid()"),
];

/// Signs and words that are wrong in JavaScript.
#[cfg(feature = "js")]
const SIGNS_IN_JS: Table = &[
    ("~=", "not equal is !=="),
    ("elseif", "write else if (…) { … }"),
    (" then", "write if (…) { … }"),
    (" do", "write for (const x of list) { … }"),
    ("local ", "write const x = …"),
];

/// Signs and words that are wrong in Lua.
#[cfg(feature = "lua")]
const SIGNS_IN_LUA: Table = &[
    ("!==", "not equal is ~="),
    ("!=", "not equal is ~="),
    ("===", "equal is =="),
    ("&&", "write and"),
    ("||", "write or"),
    ("=>", "write function(x) … end"),
    ("+=", "write x = x + y"),
    ("-=", "write x = x - y"),
    ("++", "write x = x + 1"),
    ("else if", "write elseif, or one more end"),
    ("const ", "write local x = …"),
    ("let ", "write local x = …"),
    ("var ", "write local x = …"),
    ("/*", "a comment begins with --"),
    ("!", "write not"),
];

/// Modules that other places have for Lua.
#[cfg(feature = "lua")]
const MODULES_IN_LUA: Table = &[
    ("mailgun", "it is not available; http.post(url, options) reaches the API of the service"),
    ("bigquery", "it is not available; http.post(url, options) reaches the API of the service"),
    ("secure", "it is not available; cfg:GetValue(\"KEY\") reads a secret, and crypto is there"),
    ("data", "it is not available; kv.get(key) and kv.set(key, value, seconds) are there"),
    ("cjson", "json.decode(text) and json.encode(value) are in require(\"json\")"),
    ("dkjson", "json.decode(text) and json.encode(value) are in require(\"json\")"),
    ("socket.http", "http.get(url, options) is in require(\"http\")"),
    ("mime", "base64_encode(text) is in require(\"crypto\")"),
    ("os", "os.time and os.date are there without it"),
    ("string", "string is there without it"),
    ("lustache", "render(text, values, \"html\") is in require(\"template\")"),
    ("uuid", "uuid() is in require(\"id\")"),
    ("table", "table is there without it"),
    ("math", "math is there without it"),
];

/// Names that scripts in Lua use elsewhere.
#[cfg(feature = "lua")]
const IN_LUA: Table = &[
    ("JSON", "write require(\"json\").decode(text)"),
    ("cjson", "write require(\"json\").decode(text)"),
    ("console", "write print(value)"),
    ("getenv", "write cfg:GetValue(\"KEY\")"),
    ("ngx", "write r.RequestBody and r:SetRequestBody(text)"),
    ("request", "write r.RequestBody and r:SetRequestBody(text)"),
    ("io", "there are no files: write print(value) to log"),
    ("createHmac", "write crypto.hmac(\"sha256\", text, key), which gives hex"),
    ("createHash", "write crypto.sha256(text), which gives hex"),
    ("Buffer", "write require(\"base64\").decode(text) or require(\"hex\").decode(text)"),
    ("fetch", "write require(\"http\").get(url, options)"),
    ("axios", "write require(\"http\").get(url, options)"),
    ("process", "write cfg:GetValue(\"KEY\")"),
    ("kv", "write local kv = require(\"kv\")"),
    ("json", "write local json = require(\"json\")"),
    ("http", "write local http = require(\"http\")"),
    ("crypto", "write local crypto = require(\"crypto\")"),
    ("time", "write local time = require(\"time\")"),
    ("null", "write nil, or require(\"json\").null"),
];

fn find(table: Table, name: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == name).map(|(_, here)| *here)
}

/// What to write in JavaScript for a name of other places.
#[cfg(feature = "js")]
pub(crate) fn in_js(name: &str) -> Option<&'static str> {
    find(IN_JS, name)
}

/// A member of an object that is known from other places and is on a line.
#[cfg(feature = "js")]
pub(crate) fn member_in_js(line: &str) -> Option<&'static str> {
    let members = IN_JS.iter().map(|(name, _)| *name).filter(|name| name.contains('.'));
    members.into_iter().find(|name| line.contains(name))
}

/// Why there is no such package.
#[cfg(feature = "js")]
pub(crate) fn package(name: &str) -> String {
    let here = find(PACKAGES, name).unwrap_or(
        "http, crypto, base64, hex, url, jwt, xml, yaml, csv, time, kv, jmespath, template and id are there by \
         their names",
    );
    format!("there are no packages: {here}")
}

/// What to write in JavaScript for a sign that is on a line.
#[cfg(feature = "js")]
pub(crate) fn sign_in_js(line: &str) -> Option<&'static str> {
    find_sign(SIGNS_IN_JS, line)
}

fn find_sign(table: Table, line: &str) -> Option<&'static str> {
    table.iter().find(|(sign, _)| line.contains(sign)).map(|(_, here)| *here)
}

/// What to write in Lua for a sign that is on a line.
#[cfg(feature = "lua")]
pub(crate) fn sign_in_lua(line: &str) -> Option<&'static str> {
    find_sign(SIGNS_IN_LUA, line)
}

/// What to write in Lua for a module of other places.
#[cfg(feature = "lua")]
pub(crate) fn module_in_lua(name: &str) -> Option<&'static str> {
    find(MODULES_IN_LUA, name)
}

/// What to write in Lua for a name of other places.
#[cfg(feature = "lua")]
pub(crate) fn in_lua(name: &str) -> Option<&'static str> {
    find(IN_LUA, name)
}

#[cfg(all(test, feature = "lua"))]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_from_methods() {
        for line in ["local a: number = 1", "function f(a: string, b)", "function f() : void"] {
            assert!(has_type(line), "{line}");
        }
        for line in ["a:string(b)", "a:number{1}", "t = {a = 1}", "::any_label::", "s:object \"a\""]
        {
            assert!(!has_type(line), "{line}");
        }
    }
}
