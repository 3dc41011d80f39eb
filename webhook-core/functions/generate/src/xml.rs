//! XML documents as value trees, in the shape of [`webhook_xml`], which a script's `xml.decode` gives as well. A
//! document type is an error here, as no function could write it.

use webhook_xml::Decoder;

use super::{sample::from_json, value::Value};

/// Reads one document whose elements nest at most `max_depth` deep; an error says what is wrong with it.
pub(crate) fn decode(document: &str, max_depth: usize) -> Result<Value, String> {
    let decoder = Decoder::new(max_depth).without_document_type();
    let document = decoder.decode(document).map_err(|error| error.to_string())?;
    // Of each element an object and a list of those with its name, and the object around the root.
    from_json(&document, max_depth.saturating_mul(2).saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::super::sample::from_json_text;
    use super::*;

    #[test]
    fn the_documented_shape() {
        let cases = [
            ("<a>x</a>", r#"{"a":"x"}"#),
            ("<?xml version='1.0'?><!-- c --><a/>", r#"{"a":""}"#),
            ("<a id='7'>x</a>", r##"{"a":{"-id":"7","#text":"x"}}"##),
            ("<a id='7'/>", r#"{"a":{"-id":"7"}}"#),
            ("<a><b>1</b><c>2</c><b>3</b></a>", r#"{"a":{"b":["1","3"],"c":"2"}}"#),
            ("<a> x <b>1</b> y </a>", r##"{"a":{"b":"1","#text":"x  y"}}"##),
            (
                "<s:a xmlns:s='u'><s:b>&lt;&#65;&amp;</s:b></s:a>",
                r#"{"s:a":{"-xmlns:s":"u","s:b":"<A&"}}"#,
            ),
            ("<a><![CDATA[<raw>]]></a>", r#"{"a":"<raw>"}"#),
        ];
        for (document, wanted) in cases {
            let got = decode(document, 32).expect("a document");
            let wanted = from_json_text(wanted).expect("valid JSON");
            assert!(got.same(&wanted), "{document}: {got:?}");
        }
    }

    #[test]
    fn broken_documents_are_errors() {
        for document in [
            "",
            "<a>",
            "<a></b>",
            "x<a/>",
            "<a/><b/>",
            "<a>&nope;</a>",
            "<!DOCTYPE a><a/>",
            "<a b='1' b='2'/>",
        ] {
            assert!(decode(document, 32).is_err(), "{document}");
        }
        let deep = format!("{}{}", "<a>".repeat(40), "</a>".repeat(40));
        assert!(decode(&deep, 32).is_err_and(|error| error.contains("deeper than 32")));
    }
}
