//! Payloads of shops and payment processors.

use super::holds;

#[test]
fn stripe_event_to_a_flat_record() {
    holds(
        r#"{"id":"evt_1NG8Du2eZvKYlo2CUI79vXWy","object":"event","api_version":"2019-02-19","created":1686089970,"livemode":false,"type":"invoice.paid",
            "data":{"object":{"id":"in_1MtHbELkdIwHu7ixl4OzzPMv","object":"invoice","amount_due":2999,"amount_paid":2999,"currency":"usd","customer":"cus_NeZwdNtLEOXuvB",
            "customer_email":"jenny@example.com","status":"paid","lines":{"data":[{"id":"il_1","description":"Pro plan","amount":2999}]}}}}"#,
        r#"{"event_id":"evt_1NG8Du2eZvKYlo2CUI79vXWy","event_type":"invoice.paid","invoice_id":"in_1MtHbELkdIwHu7ixl4OzzPMv","customer_id":"cus_NeZwdNtLEOXuvB",
            "email":"jenny@example.com","amount":29.99,"currency":"USD","occurred_at":"2023-06-06T22:19:30Z","live":false,"source":"stripe-webhooks"}"#,
        &[(
            r#"{"id":"evt_2","object":"event","api_version":"2019-02-19","created":1714557600,"livemode":true,"type":"invoice.voided",
                "data":{"object":{"id":"in_2","object":"invoice","amount_due":100,"amount_paid":100,"currency":"eur","customer":"cus_2",
                "customer_email":"al@example.org","status":"void","lines":{"data":[]}}}}"#,
            r#"{"event_id":"evt_2","event_type":"invoice.voided","invoice_id":"in_2","customer_id":"cus_2",
                "email":"al@example.org","amount":1,"currency":"EUR","occurred_at":"2024-05-01T10:00:00Z","live":true,"source":"stripe-webhooks"}"#,
        )],
    );
}

#[test]
fn shopify_order_to_lines_in_cents() {
    holds(
        r##"{"id":820982911946154508,"email":"jon@example.com","created_at":"2021-12-31T19:00:00-05:00","currency":"USD","total_price":"403.00","name":"#9999",
            "line_items":[{"id":866550311766439020,"title":"IPod Nano - 8GB","sku":"IPOD2008PINK","quantity":1,"price":"199.00"},
                          {"id":141249953214522974,"title":"IPod Nano - 16GB","sku":"IPOD2008BLUE","quantity":2,"price":"102.00"}],
            "customer":{"id":115310627314723954,"first_name":"John","last_name":"Smith"}}"##,
        r##"{"order":"#9999","customer":"John Smith","total_cents":40300,
            "lines":[{"order":"#9999","sku":"IPOD2008PINK","name":"IPod Nano - 8GB","qty":1,"price_cents":19900,"currency":"USD"},
                     {"order":"#9999","sku":"IPOD2008BLUE","name":"IPod Nano - 16GB","qty":2,"price_cents":10200,"currency":"USD"}]}"##,
        &[(
            r##"{"id":1,"email":"a@example.com","created_at":"2022-01-01T00:00:00Z","currency":"EUR","total_price":"5.10","name":"#7",
                "line_items":[{"id":2,"title":"Pen","sku":"PEN","quantity":3,"price":"1.70"}],
                "customer":{"id":3,"first_name":"Ann","last_name":"Lee"}}"##,
            r##"{"order":"#7","customer":"Ann Lee","total_cents":510,"lines":[{"order":"#7","sku":"PEN","name":"Pen","qty":3,"price_cents":170,"currency":"EUR"}]}"##,
        )],
    );
}

#[test]
fn line_totals_and_sums() {
    holds(
        r#"{"items":[{"name":"Shirt","price":19.9,"qty":2},{"name":"Hat","price":9.5,"qty":3}],"shipping":4.95}"#,
        r#"{"rows":[{"name":"Shirt","total":39.8},{"name":"Hat","total":28.5}],"item_count":2,"subtotal":68.3}"#,
        &[(
            r#"{"items":[{"name":"Sock","price":1.1,"qty":3}],"shipping":0}"#,
            r#"{"rows":[{"name":"Sock","total":3.3}],"item_count":1,"subtotal":3.3}"#,
        )],
    );
}

#[test]
fn the_sum_of_a_field() {
    holds(
        r#"{"lines":[{"amount":1250},{"amount":3075},{"amount":99}]}"#,
        r#"{"total":4424,"total_text":"44.24"}"#,
        &[
            (r#"{"lines":[{"amount":100}]}"#, r#"{"total":100,"total_text":"1.00"}"#),
            (r#"{"lines":[]}"#, r#"{"total":0,"total_text":"0.00"}"#),
        ],
    );
}

#[test]
fn attributes_found_by_name() {
    holds(
        r#"{"id":5,"note_attributes":[{"name":"gift","value":"red ribbon"},{"name":"delivery","value":"2024-05-01"},{"name":"vat_id","value":"LV4000"}]}"#,
        r#"{"id":5,"gift":"red ribbon","vat_id":"LV4000"}"#,
        &[(
            r#"{"id":6,"note_attributes":[{"name":"vat_id","value":"DE99"},{"name":"gift","value":"blue box"}]}"#,
            r#"{"id":6,"gift":"blue box","vat_id":"DE99"}"#,
        )],
    );
}

#[test]
fn addresses_found_by_type() {
    holds(
        r#"{"addresses":[{"type":"billing","city":"Riga"},{"type":"shipping","city":"Oslo"}]}"#,
        r#"{"billing_city":"Riga","shipping_city":"Oslo"}"#,
        &[(
            r#"{"addresses":[{"type":"shipping","city":"Rome"},{"type":"billing","city":"Bern"}]}"#,
            r#"{"billing_city":"Bern","shipping_city":"Rome"}"#,
        )],
    );
}

#[test]
fn most_of_an_object_with_one_field_more() {
    holds(
        r#"{"id":5,"email":"a@example.com","name":"Ann","plan":"pro","password":"secret-1"}"#,
        r#"{"id":5,"email":"a@example.com","name":"Ann","plan":"pro","origin":"signup-form"}"#,
        &[(
            r#"{"id":6,"email":"b@example.com","name":"Bo","plan":"free","password":"x","coupon":"MAY"}"#,
            r#"{"id":6,"email":"b@example.com","name":"Bo","plan":"free","coupon":"MAY","origin":"signup-form"}"#,
        )],
    );
}
