//! How the written source reads.

use webhook_core::model::Driver;

use super::super::sample::Format;
use super::{run_source, write};

fn source(driver: Driver, input: &str, output: &str) -> String {
    write(&[(input, output)], driver, &Default::default()).expect("a function is found").code
}

const INPUT: &str = r#"{"order":{"id":1042,"customer":{"name":"Jane Roe"}},"lines":[{"sku":"X-1","price":"19.90","kind":"sale"},{"sku":"Z-9","price":"7.00","kind":"void"},{"sku":"Y-2","price":"5.00","kind":"sale"}]}"#;
const OUTPUT: &str = r#"{"id":1042,"source":"shop","text":"Order #1042 of Jane Roe","items":[{"code":"X-1","cents":1990},{"code":"Y-2","cents":500}]}"#;

#[test]
fn lua_reads_well() {
    let code = source(Driver::Lua, INPUT, OUTPUT);
    let (_, main) = code.split_once("local body").expect("the payload is read");
    let wanted = r##" = assert(json.decode(r.RequestBody))

local out = {
  id = get(body, "order", "id"),
  source = "shop",
  text = "Order #"
    .. text(get(body, "order", "id"))
    .. " of "
    .. text(get(body, "order", "customer", "name")),
  items = each(filter(get(body, "lines"), function(item) return get(item, "kind") == "sale" end), function(item)
    return {
      code = get(item, "sku"),
      cents = times(to_number(get(item, "price")), 100),
    }
  end),
}

r:SetRequestBody(json.encode(out))
"##;
    assert_eq!(main, wanted);
}

#[test]
fn javascript_reads_well() {
    let code = source(Driver::Js, INPUT, OUTPUT);
    let (main, _) = code.split_once("\n}\n\n").expect("helpers come after");
    let (_, main) = main.split_once("\n\n").expect("the first lines are comments");
    let wanted = r##"function transform(r) {
  const body = JSON.parse(r.body);

  const out = {
    id: body?.order?.id,
    source: "shop",
    text: `Order #${text(body?.order?.id)} of ${text(body?.order?.customer?.name)}`,
    items: each(filter(body?.lines, (item) => item?.kind === "sale"), (item) => ({
      code: item?.sku,
      cents: times(to_number(item?.price), 100),
    })),
  };

  r.setBody(JSON.stringify(out));
  return r;"##;
    assert_eq!(main, wanted);
}

#[test]
fn names_from_a_payload_cannot_leave_a_comment_or_a_text() {
    let input = "{\"a\\nos.exit(1)--\":[{\"]]\\r\\nos.exit(1)\":\"some text\"},{\"]]\\r\\nos.exit(1)\":\"more text\"}]}";
    let output = "{\"x\\nos.exit(1)--\":[\"some text\",\"more text\"]}";
    for driver in [Driver::Lua, Driver::Js] {
        let code = source(driver, input, output);
        assert!(!code.lines().any(|line| line.trim_start().starts_with("os.exit")), "{code}");
        assert!(code.is_ascii() && !code.contains('\r'), "{code}");
        let answer = run_source(driver, &code, Format::Json.content_type(), input);
        assert_eq!(answer.as_deref(), Ok(output), "{code}");
    }
}

#[test]
fn a_form_and_a_text_are_read() {
    for driver in [Driver::Lua, Driver::Js] {
        let form = source(
            driver,
            "From=%2B15551230001&Body=Hello+there",
            r#"{"text":"Hello there (+15551230001)"}"#,
        );
        let kind = Format::Form.content_type();
        let answer = run_source(driver, &form, kind, "Body=Ja&From=%2B49170&Body=Nein");
        assert_eq!(answer.as_deref(), Ok(r#"{"text":"Ja (+49170)"}"#), "{form}");
        let text = source(driver, r#"{"name":"Xavier"}"#, "Hello Xavier!");
        let answer = run_source(driver, &text, Format::Json.content_type(), r#"{"name":"Ann"}"#);
        assert_eq!(answer.as_deref(), Ok("Hello Ann!"), "{text}");
    }
}

#[test]
fn the_same_sample_gives_the_same_source() {
    let first = source(Driver::Lua, INPUT, OUTPUT);
    assert!((0..3).all(|_| source(Driver::Lua, INPUT, OUTPUT) == first));
}

#[test]
fn a_source_brings_along_only_the_helpers_that_it_uses() {
    let code = source(Driver::Lua, r#"{"a":{"b":"text"}}"#, r#"{"c":"text"}"#);
    assert_eq!(code.matches("local function").count(), 1, "{code}");
    assert!(!code.contains("require(\"time\")"), "{code}");
}

#[test]
fn long_texts_and_many_fields_compile() {
    let fields: Vec<String> = (0..120).map(|n| format!("\"f{n}\":\"value-{n}-x\"")).collect();
    let text: Vec<String> = (0..120).map(|n| format!("value-{n}-x")).collect();
    let input = format!("{{{}}}", fields.join(","));
    let output = format!("{{\"text\":\"{}\",{}}}", text.join("; "), fields.join(","));
    for driver in [Driver::Lua, Driver::Js] {
        let code = source(driver, &input, &output);
        let answer = run_source(driver, &code, Format::Json.content_type(), &input);
        let got: serde_json::Value =
            serde_json::from_str(&answer.expect("it runs")).expect("valid JSON");
        let wanted: serde_json::Value = serde_json::from_str(&output).expect("valid JSON");
        assert_eq!(got, wanted, "{code}");
    }
}
