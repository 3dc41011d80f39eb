//! The body as XML.

use crate::xml::Decoder;

use crate::rule::MAX_XML_DEPTH;

const DECODER: Decoder = Decoder::new(MAX_XML_DEPTH).local_names().ascii_white_space();

/// `body` as one JSON object with the root element in it, its fields by name. None
/// when it is not well-formed XML in UTF-8, refers to entities of its own, or is too deep.
pub(super) fn to_json(body: &[u8]) -> Option<String> {
    let mut document = DECODER.decode(std::str::from_utf8(body).ok()?).ok()?;
    document.sort_all_objects();
    Some(document.to_string())
}
