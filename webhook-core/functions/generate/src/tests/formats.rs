//! XML and forms on either side, and texts.

use super::holds;

#[test]
fn form_to_json() {
    let [lua, js] = holds(
        "first_name=Jane&last_name=Roe&email=jane%40example.com&age=42&newsletter=on&topic=news&topic=sports",
        r#"{"name":"Jane Roe","email":"jane@example.com","age":42,"newsletter":true,"topics":["news","sports"]}"#,
        &[(
            "first_name=Al&last_name=Poe&email=al%40example.org&age=7&newsletter=off&topic=art",
            r#"{"name":"Al Poe","email":"al@example.org","age":7,"newsletter":false,"topics":["art"]}"#,
        )],
    );
    assert!(lua.contains(r#"r:SetRequestHeader("Content-Type", "application/json")"#), "{lua}");
    assert!(js.contains(r#"r.setHeader("Content-Type", "application/json")"#), "{js}");
}

#[test]
fn form_with_missing_fields() {
    holds(
        "From=%2B371200&Body=Hello+there&NumMedia=0",
        r#"{"text":"SMS from +371200: Hello there","sender":"+371200"}"#,
        &[("Body=Hi", r#"{"text":"SMS from : Hi"}"#)],
    );
}

#[test]
fn a_document_inside_a_form_field() {
    holds(
        "payload=%7B%22user%22%3A%7B%22name%22%3A%22ann%22%7D%2C%22actions%22%3A%5B%7B%22value%22%3A%22approve%22%7D%5D%7D",
        r#"{"who":"ann","what":"approve"}"#,
        &[(
            "payload=%7B%22user%22%3A%7B%22name%22%3A%22bo%22%7D%2C%22actions%22%3A%5B%7B%22value%22%3A%22deny%22%7D%5D%7D",
            r#"{"who":"bo","what":"deny"}"#,
        )],
    );
}

#[test]
fn xml_to_json() {
    holds(
        r#"<?xml version="1.0"?><order id="A-7"><customer>Jane Roe</customer><item sku="X"><qty>2</qty></item><item sku="Y"><qty>1</qty></item></order>"#,
        r#"{"order_id":"A-7","customer":"Jane Roe","items":[{"sku":"X","quantity":2},{"sku":"Y","quantity":1}]}"#,
        &[
            (
                r#"<order id="B"><customer>Al</customer><item sku="Q"><qty>5</qty></item></order>"#,
                r#"{"order_id":"B","customer":"Al","items":[{"sku":"Q","quantity":5}]}"#,
            ),
            (
                r#"<order id="C"><customer>Bo</customer></order>"#,
                r#"{"order_id":"C","customer":"Bo","items":[]}"#,
            ),
        ],
    );
}

#[test]
fn one_xml_element_is_a_list_of_one() {
    holds(
        r#"<alert level="high"><source>web-1</source><entries><entry><code>E42</code><text>Disk full</text></entry></entries></alert>"#,
        r#"{"level":"high","host":"web-1","entries":[{"code":"E42","message":"Disk full"}]}"#,
        &[(
            r#"<alert level="low"><source>db</source><entries><entry><code>E1</code><text>a</text></entry><entry><code>E2</code><text>b</text></entry></entries></alert>"#,
            r#"{"level":"low","host":"db","entries":[{"code":"E1","message":"a"},{"code":"E2","message":"b"}]}"#,
        )],
    );
}

#[test]
fn json_to_xml() {
    holds(
        r#"{"id":"A-7","customer":{"name":"Jane & Co"},"lines":[{"sku":"X","n":2},{"sku":"Y","n":1}]}"#,
        r#"<order id="A-7"><customer>Jane &amp; Co</customer><line><sku>X</sku><quantity>2</quantity></line><line><sku>Y</sku><quantity>1</quantity></line></order>"#,
        &[(
            r#"{"id":"B","customer":{"name":"Al"},"lines":[{"sku":"Q","n":9},{"sku":"R","n":8},{"sku":"S","n":7}]}"#,
            r#"<order id="B"><customer>Al</customer><line><sku>Q</sku><quantity>9</quantity></line><line><sku>R</sku><quantity>8</quantity></line><line><sku>S</sku><quantity>7</quantity></line></order>"#,
        )],
    );
}

#[test]
fn json_to_form() {
    holds(
        r#"{"user":{"email":"a+b@example.com"},"amount":1999,"note":"two words & more"}"#,
        "email=a%2Bb%40example.com&amount=1999&note=two+words+%26+more&source=hook",
        &[(
            r#"{"user":{"email":"x@example.com"},"amount":5,"note":"é"}"#,
            "email=x%40example.com&amount=5&note=%C3%A9&source=hook",
        )],
    );
}

#[test]
fn text_to_json() {
    holds(
        "ALERT web-1 disk full",
        r#"{"text":"ALERT web-1 disk full","level":"ALERT","host":"web-1"}"#,
        &[("WARN db-9 slow", r#"{"text":"WARN db-9 slow","level":"WARN","host":"db-9"}"#)],
    );
}

#[test]
fn the_same_format_keeps_its_content_type() {
    let [lua, js] =
        holds(r#"{"a":"some text"}"#, r#"{"b":"some text"}"#, &[(r#"{"a":"x"}"#, r#"{"b":"x"}"#)]);
    assert!(!lua.contains("Content-Type") && !js.contains("Content-Type"), "{lua}{js}");
}

#[test]
fn a_list_at_the_top() {
    holds(
        r#"[{"id":1,"n":"Ann"},{"id":2,"n":"Bo"}]"#,
        r#"{"people":[{"key":1,"name":"Ann"},{"key":2,"name":"Bo"}]}"#,
        &[(r#"[{"id":3,"n":"Cy"}]"#, r#"{"people":[{"key":3,"name":"Cy"}]}"#)],
    );
}

#[test]
fn a_scalar_is_wanted() {
    holds(
        r#"{"user":{"name":"Ann Lee"}}"#,
        r#""Ann Lee""#,
        &[(r#"{"user":{"name":"Bo"}}"#, r#""Bo""#), (r#"{}"#, "null")],
    );
}
