//! Bodies of XML.

use super::Unreadable;
use crate::{wire::json::MAX_XML_DEPTH, xml::Decoder};

const DECODER: Decoder = Decoder::new(MAX_XML_DEPTH).local_names().ascii_white_space();

/// A document as one JSON object with the root element in it, its fields by name.
pub(super) fn to_json(text: &str) -> Result<String, Unreadable> {
    let mut document = DECODER
        .decode(text)
        .map_err(|error| Unreadable::new(format!("the body is not XML: {error}")))?;
    document.sort_all_objects();
    Ok(document.to_string())
}
