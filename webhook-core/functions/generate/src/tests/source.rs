//! How the written source reads.

use webhook_core::model::Driver;

use super::write;

fn source(driver: Driver, input: &str, output: &str) -> String {
    write(input, output, driver, &Default::default()).expect("a function is found").code
}

const INPUT: &str = r#"{"order":{"id":1042,"customer":{"name":"Jane Roe"}},"lines":[{"sku":"X-1","price":"19.90"},{"sku":"Y-2","price":"5.00"}]}"#;
const OUTPUT: &str = r#"{"id":1042,"source":"shop","text":"Order #1042 of Jane Roe","items":[{"code":"X-1","cents":1990},{"code":"Y-2","cents":500}]}"#;

#[test]
fn lua_reads_well() {
    let code = source(Driver::Lua, INPUT, OUTPUT);
    let (_, main) = code.split_once("local body").expect("the payload is read");
    let wanted = r##" = assert(json.decode(r.RequestBody))

-- items: one element for each of body.lines
local items = {}
for _, line in ipairs(list(get(body, "lines"))) do
  items[#items + 1] = {
    code = get(line, "sku"),
    cents = times(to_number(get(line, "price")), 100),
  }
end

local out = {
  -- from body.order
  id = get(body, "order", "id"),
  -- the same for every payload
  source = "shop",
  -- composed texts
  text = "Order #"
    .. text(get(body, "order", "id"))
    .. " of "
    .. text(get(body, "order", "customer", "name")),
  -- made above
  items = items,
}

r:SetRequestBody(json.encode(out))
"##;
    assert_eq!(main, wanted);
}

#[test]
fn javascript_reads_well() {
    let code = source(Driver::Js, INPUT, OUTPUT);
    let (main, _) = code.split_once("\n}\n\n").expect("helpers come after");
    let wanted = r##"// Makes JSON out of JSON. Written from one sample: see that it says what you mean.
// source: the same for every payload

function transform(r) {
  const body = JSON.parse(r.body);

  // items: one element for each of body.lines
  const items = [];
  for (const line of list(body?.lines)) {
    items.push({
      code: line?.sku,
      cents: times(to_number(line?.price), 100),
    });
  }

  const out = {
    // from body.order
    id: body?.order?.id,
    // the same for every payload
    source: "shop",
    // composed texts
    text: `Order #${text(body?.order?.id)} of ${text(body?.order?.customer?.name)}`,
    // made above
    items: items,
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
    }
    super::holds(input, output, &[]);
}

#[test]
fn the_same_sample_gives_the_same_source() {
    let first = source(Driver::Lua, INPUT, OUTPUT);
    assert!((0..3).all(|_| source(Driver::Lua, INPUT, OUTPUT) == first));
}

#[test]
fn only_what_is_used_is_brought_along() {
    let code = source(Driver::Lua, r#"{"a":{"b":"text"}}"#, r#"{"c":"text"}"#);
    assert_eq!(code.matches("local function").count(), 1, "{code}");
    assert!(!code.contains("require(\"time\")") && !code.contains("require(\"url\")"), "{code}");
}

#[test]
fn long_texts_and_many_fields_compile() {
    let fields: Vec<String> = (0..120).map(|n| format!("\"f{n}\":\"value-{n}-x\"")).collect();
    let text: Vec<String> = (0..120).map(|n| format!("value-{n}-x")).collect();
    let output = format!("{{\"text\":\"{}\",{}}}", text.join("; "), fields.join(","));
    super::holds(&format!("{{{}}}", fields.join(",")), &output, &[]);
}
