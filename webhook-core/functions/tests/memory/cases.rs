//! Scripts that have the library build what is much larger than their source.

use webhook_core::model::Driver;

pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) driver: Driver,
    pub(super) source: &'static str,
    /// Part of how it ends: `well`, or the limit's name; any end where several bounds are near.
    pub(super) ends: &'static str,
    pub(super) body: fn() -> Vec<u8>,
    pub(super) content_type: Option<&'static str>,
}

const fn lua(name: &'static str, source: &'static str, ends: &'static str) -> Case {
    Case { name, driver: Driver::Lua, source, ends, body: Vec::new, content_type: None }
}

const fn js(name: &'static str, source: &'static str, ends: &'static str) -> Case {
    Case { name, driver: Driver::Js, source, ends, body: Vec::new, content_type: None }
}

/// A megabyte of short form fields with names of their own.
fn form() -> Vec<u8> {
    (0..120_000).map(|n| format!("k{n}=v")).collect::<Vec<_>>().join("&").into_bytes()
}

/// Many lines of one field.
fn lines() -> Vec<u8> {
    "a\n".repeat(1_400_000).into_bytes()
}

pub(super) const CASES: &[Case] = &[
    lua("lua_csv_fields", "require('csv').decode((','):rep(8e6))", "memory"),
    lua(
        "lua_csv_header",
        "require('csv').decode(('n'):rep(1e5) .. '\\n' .. ('a\\n'):rep(4e6), {header = true})",
        "memory",
    ),
    lua("lua_csv_rows", "require('csv').decode(('a\\n'):rep(4e6))", "memory"),
    lua(
        "lua_csv_fits",
        "local rows = require('csv').decode(('a,b,c\\n'):rep(2e4)) assert(#rows == 20000)",
        "well",
    ),
    lua("lua_json_wide", "require('json').decode('[' .. ('[],'):rep(2e6) .. '[]]')", "memory"),
    lua(
        "lua_json_numbers",
        "require('json').decode('[' .. ('0,'):rep(4e6 - 10) .. '0]')",
        "memory",
    ),
    lua(
        "lua_json_keys",
        "local t = {} for i = 1, 2e5 do t[i] = '\"k' .. i .. '\":0' end require('json').decode('[{' .. table.concat(t, ',') .. '},' .. ('{\"a\":{}},'):rep(3e5) .. '0]')",
        "memory",
    ),
    lua(
        "lua_xml_elements",
        "require('xml').decode('<a>' .. ('<b x=\"1\"/>'):rep(7e5) .. '</a>')",
        "memory",
    ),
    lua(
        "lua_xml_attributes",
        "local t = {} for i = 1, 2e5 do t[i] = 'k' .. i .. '=\"\"' end require('xml').decode('<a ' .. table.concat(t, ' ') .. '/>')",
        "memory",
    ),
    lua("lua_yaml_list", "assert(require('yaml').decode(('- a\\n'):rep(2e6)))", "budget"),
    lua(
        "lua_yaml_alias_text",
        "assert(require('yaml').decode('a: &a ' .. ('x'):rep(1e5) .. '\\nb: [' .. ('*a,'):rep(2e4) .. ']'))",
        "",
    ),
    lua("lua_url_query", "require('url').decode_query(('a&'):rep(4e6))", "memory"),
    lua(
        "lua_jwt_claims",
        "local b = require('base64').url_encode local s = b('{\"alg\":\"HS256\"}') .. '.' .. b('[' .. ('[],'):rep(1e6) .. '0]') require('jwt').verify(s .. '.' .. b(require('crypto').hmac('sha256', s, 'k', true)), 'k')",
        "memory",
    ),
    lua("lua_form", "local _ = r.RequestFormData", "well")
        .with(form, "application/x-www-form-urlencoded"),
    lua("lua_body_as_csv", "require('csv').decode(r.RequestBody)", "memory")
        .with(lines, "text/csv"),
    lua(
        "lua_json_encode_shared_text",
        "local s, t = ('\\1'):rep(8e6), {} for i = 1, 1000 do t[i] = s end require('json').encode(t)",
        "string size",
    ),
    lua(
        "lua_json_encode_circle",
        "local t = {} for i = 1, 1e5 do t['k' .. i] = 1 end t['!'] = t require('json').encode(t)",
        "memory",
    ),
    lua(
        "lua_yaml_encode_shared_text",
        "local s, t = ('x'):rep(8e6), {} for i = 1, 40 do t[i] = s end require('yaml').encode(t)",
        "memory",
    ),
    lua(
        "lua_csv_encode_names",
        "local t = {} for i = 1, 2e4 do t[i] = {['k' .. i] = 1} end require('csv').encode(t)",
        "string size",
    ),
    lua(
        "lua_xml_encode_attributes",
        "local s, t = ('\"'):rep(4e6), {} for i = 1, 6 do t['-k' .. i] = s end require('xml').encode({a = t})",
        "string size",
    ),
    lua(
        "lua_http_form",
        "local s, t = ('x'):rep(8e6), {} for i = 1, 40 do t['k' .. i] = s end require('http').post('http://a.example/', {form = t})",
        "memory",
    ),
    lua(
        "lua_sort_nested",
        "local t = {} for i = 1, 3e5 do t[i] = i end local function f() table.sort(t, f) return false end table.sort(t, f)",
        "memory",
    ),
    lua(
        "lua_gsub_nested",
        "local s, n = ('x'):rep(8e6 - 10), 0 local function f() n = n + 1 if n % 2 == 1 then return s end return (('ab'):gsub('.', f)) end f = f local _ = ('ab'):gsub('.', f)",
        "memory",
    ),
    js("js_csv_fields", "csv.decode(','.repeat(8e6))", "memory"),
    js(
        "js_csv_header",
        "csv.decode('n'.repeat(1e5) + '\\n' + 'a\\n'.repeat(2e6), { header: true })",
        "memory",
    ),
    js("js_csv_rows", "csv.decode('a\\n'.repeat(4e6 - 1))", "memory"),
    js(
        "js_csv_fits",
        "if (csv.decode('a,b,c\\n'.repeat(2e4)).length !== 20000) throw new Error('rows')",
        "well",
    ),
    js("js_xml_elements", "xml.decode('<a>' + '<b x=\"1\"/>'.repeat(7e5) + '</a>')", "memory"),
    js("js_yaml_list", "yaml.decode('- a\\n'.repeat(2e6 - 1))", "memory"),
    js(
        "js_yaml_alias_text",
        "yaml.decode('a: &a ' + 'x'.repeat(1e5) + '\\nb: [' + '*a,'.repeat(2e4) + ']')",
        "",
    ),
    js("js_yaml_encode", "yaml.encode(new Array(1e6).fill(1))", "memory"),
    js(
        "js_csv_encode_names",
        "const t = []; for (let i = 0; i < 2e4; i++) t.push({ ['k' + i]: 1 }); csv.encode(t)",
        "string size",
    ),
    js(
        "js_xml_encode_text",
        "xml.encode({ a: { '-k': '\"'.repeat(3e6), b: '&'.repeat(3e6) } })",
        "string size",
    ),
    js("js_url_query", "url.decodeQuery('a&'.repeat(4e6 - 1))", "memory"),
    js(
        "js_http_form",
        "http.post('http://a.example/', { form: { k: new Array(2e6).fill(1) } })",
        "memory",
    ),
    js(
        "js_http_batch",
        "const l = new Array(2e5).fill(['GET', 'http://a.example/']); http.requestBatch(l)",
        "http calls",
    ),
    js(
        "js_jwt_claims",
        "const s = base64.urlEncode('{\"alg\":\"HS256\"}') + '.' + base64.urlEncode('[' + '[],'.repeat(1e6) + '0]'); jwt.verify(s + '.' + base64.urlEncode(crypto.hmac('sha256', s, 'k', true)), 'k')",
        "memory",
    ),
    js("js_hex_nested", "let s = 'x'.repeat(4e6); for (;;) s = hex.encode(s)", "string size"),
    js("js_form", "r.formData.k1", "well").with(form, "application/x-www-form-urlencoded"),
    js("js_body_as_csv", "csv.decode(r.body)", "memory").with(lines, "text/csv"),
];

impl Case {
    const fn with(mut self, body: fn() -> Vec<u8>, content_type: &'static str) -> Self {
        self.body = body;
        self.content_type = Some(content_type);
        self
    }
}
