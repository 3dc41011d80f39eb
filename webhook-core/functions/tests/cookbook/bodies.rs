use serde_json::json;

use crate::scenario::{Left, Scenario, post, scenario};

fn as_json(left: Left) -> Left {
    left.header("content-type", "application/json")
}

pub(crate) fn scenarios() -> Vec<Scenario> {
    let mut all = forms();
    all.extend(documents());
    all.extend(values());
    all
}

fn forms() -> Vec<Scenario> {
    let form = |body: &str| post(body).header("content-type", "application/x-www-form-urlencoded");
    let part = |name: &str, more: &str, content: &str| {
        format!(
            "--xyz\r\nContent-Disposition: form-data; name=\"{name}\"{more}\r\n\r\n{content}\r\n"
        )
    };
    let text = part("from", "", "Ada <ada@example.com>") + &part("subject", "", "Grüße");
    let mut with_file = text.clone().into_bytes();
    let head = "--xyz\r\nContent-Disposition: form-data; name=\"attachment\"; filename=\"a.png\"\r\n\
                Content-Type: image/png\r\n\r\n";
    with_file.extend_from_slice(head.as_bytes());
    with_file.extend_from_slice(b"\x89PNG\r\n\x1a\n\r\n--xyz--\r\n");
    let multipart = |body: Vec<u8>| {
        post("").body(body).header("content-type", "multipart/form-data; boundary=xyz")
    };
    vec![
        scenario("A form to JSON")
            .case("a slash command", form("command=%2Fdeploy&text=to+prod&text=n%C3%B6w"), |l| {
                as_json(l.json(json!({"command": "/deploy", "text": ["to prod", "nöw"]})))
            })
            .case("one field", form("a=1"), |left| as_json(left.json(json!({"a": "1"})))),
        scenario("Multipart to JSON")
            .case("with a file", multipart(with_file), |left| {
                as_json(left.json(json!({
                    "from": "Ada <ada@example.com>", "subject": "Grüße",
                    "attachments": [{"name": "a.png", "type": "image/png", "content": "iVBORw0KGgo="}],
                })))
            })
            .case("without one", multipart((text + "--xyz--\r\n").into_bytes()), |left| {
                as_json(left.json(json!({
                    "from": "Ada <ada@example.com>", "subject": "Grüße", "attachments": [],
                })))
            }),
    ]
}

fn documents() -> Vec<Scenario> {
    let one = r#"<?xml version="1.0"?>
<order id="7"><customer>Ada &amp; Co</customer><item sku="a-1" quantity="2">Pen</item></order>"#;
    let two = r#"<order id="8"><customer>Ada</customer><item sku="a-1" quantity="2">Pen</item><item sku="b-2" quantity="1">Ink</item></order>"#;
    let xml = |body: &str| post(body).header("content-type", "application/xml");
    let csv = |body: &str| post(body).header("content-type", "text/csv");
    let orders =
        r#"{"orders":[{"id":7,"name":"Pen, blue","cents":1250},{"id":8,"name":"Ink","cents":99}]}"#;
    vec![
        scenario("XML to JSON")
            .case("one item", xml(one), |left| {
                as_json(left.json(json!({"id": "7", "customer": "Ada & Co", "lines": [
                    {"sku": "a-1", "name": "Pen", "quantity": 2},
                ]})))
            })
            .case("two items", xml(two), |left| {
                as_json(left.json(json!({"id": "8", "customer": "Ada", "lines": [
                    {"sku": "a-1", "name": "Pen", "quantity": 2},
                    {"sku": "b-2", "name": "Ink", "quantity": 1},
                ]})))
            })
            .fails("cut off", xml("<order>"), "xml: the root element is missing or not closed"),
        scenario("CSV rows to JSON")
            .case(
                "three rows",
                csv("name;email;age\nAda;ADA@example.com;36\n\"Bob; Jr\";;40\nEve;eve@example.com;\n"),
                |left| {
                    as_json(left.json(json!({"count": 2, "contacts": [
                        {"email": "ada@example.com", "name": "Ada", "age": 36},
                        {"email": "eve@example.com", "name": "Eve"},
                    ]})))
                },
            )
            .case("no rows", csv("name;email;age\n"), |left| {
                as_json(left.json(json!({"count": 0, "contacts": []})))
            }),
        scenario("JSON to CSV rows").case("two orders", post(orders), |left| {
            left.text("id,name,total\n7,\"Pen, blue\",12.50\n8,Ink,0.99\n")
                .header("content-type", "text/csv")
        }),
    ]
}

fn values() -> Vec<Scenario> {
    let dates = r#"{"id":1,"created_at":"2024-03-30T23:30:00+02:00","paid_at":1711830600}"#;
    let person = r#"{"user":{"email":"ada@example.com","password":"x","n":null},"cards":[{"card_number":"4111","ok":true}],"iban":{"a":1},"list":[]}"#;
    vec![
        scenario("Reformat dates")
            .case("over the change of the clocks", post(dates), |left| {
                left.json(json!({
                    "id": 1, "created_at": "30.03.2024 22:30", "due": "2024-04-13",
                    "paid_at": "2024-03-30T20:30:00Z",
                }))
            })
            .fails("no date", post(r#"{"created_at":"yesterday","paid_at":0}"#), "yesterday"),
        scenario("Mask personal data").case("wherever it is", post(person), |left| {
            left.json(json!({
                "user": {"email": "***@example.com", "password": "***", "n": null},
                "cards": [{"card_number": "***", "ok": true}], "iban": "***", "list": [],
            }))
        }),
    ]
}
