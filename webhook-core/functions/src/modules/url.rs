//! Addresses and queries.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, percent_encode};
use serde_json::{Map, Value};
#[cfg(feature = "js")]
use url::quirks;
use url::{Url, form_urlencoded};

use super::{Bounds, ModuleError, tree::plain_text};

/// The parts of an absolute address; what is absent has no key.
pub(crate) fn parse(text: &str) -> Result<Value, ModuleError> {
    let url = Url::parse(text).map_err(|error| ModuleError::invalid(format!("url: {error}")))?;
    let mut parts = Map::new();
    let mut put = |name: &str, value: Option<&str>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            parts.insert(name.to_owned(), Value::String(value.to_owned()));
        }
    };
    put("scheme", Some(url.scheme()));
    put("user", Some(url.username()));
    put("pass", url.password());
    put("host", url.host_str());
    put("path", Some(url.path()));
    put("query", url.query());
    put("fragment", url.fragment());
    if let Some(port) = url.port() {
        parts.insert("port".to_owned(), Value::from(port));
    }
    Ok(Value::Object(parts))
}

/// The address with these parts, whose query is of at most `longest` bytes.
pub(crate) fn build(parts: &Value, longest: usize) -> Result<String, ModuleError> {
    let field = |name: &str| match parts.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let missing = |name: &str| ModuleError::invalid(format!("url: {name} is missing"));
    let wrong = |name: &str| ModuleError::invalid(format!("url: {name} is wrong"));
    let scheme = field("scheme").ok_or_else(|| missing("scheme"))?;
    let host = field("host").ok_or_else(|| missing("host"))?;
    let mut url = Url::parse(&format!("{scheme}://{host}"))
        .map_err(|error| ModuleError::invalid(format!("url: {error}")))?;
    if let Some(user) = field("user") {
        url.set_username(&user).map_err(|()| wrong("user"))?;
    }
    if let Some(pass) = field("pass") {
        url.set_password(Some(&pass)).map_err(|()| wrong("pass"))?;
    }
    if let Some(port) = field("port") {
        let port = port.parse().map_err(|_| wrong("port"))?;
        url.set_port(Some(port)).map_err(|()| wrong("port"))?;
    }
    if let Some(path) = field("path") {
        url.set_path(&path);
    }
    match parts.get("query") {
        Some(query @ Value::Object(_)) => url.set_query(Some(&encode_query(query, longest)?)),
        _ => url.set_query(field("query").as_deref()),
    }
    url.set_fragment(field("fragment").as_deref());
    Ok(url.into())
}

/// Everything but letters, digits and `-_.~`.
const NOT_PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Percent-encodes everything but letters, digits and `-_.~`.
pub(crate) fn encode(text: &[u8]) -> String {
    percent_encode(text, NOT_PLAIN).to_string()
}

/// The opposite; `+` is a space. Malformed escapes stay as they are.
pub(crate) fn decode(text: &[u8]) -> Vec<u8> {
    let spaced: Vec<_> = text.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    percent_decode(&spaced).collect()
}

/// `a=1&b=2` from an object of plain values and lists of them; at most `longest` bytes.
pub(crate) fn encode_query(value: &Value, longest: usize) -> Result<String, ModuleError> {
    let Value::Object(fields) = value else {
        // The empty table is a list.
        return match value {
            Value::Array(items) if items.is_empty() => Ok(String::new()),
            _ => Err(ModuleError::invalid("url: a query must be a table of names and values")),
        };
    };
    let mut query = form_urlencoded::Serializer::new(String::new());
    // Encoded it is as long at least.
    let mut length = 0_usize;
    for (name, value) in fields {
        let one = std::slice::from_ref(value);
        let values = value.as_array().map_or(one, Vec::as_slice);
        for value in values {
            let text = plain_text(value).ok_or_else(|| {
                ModuleError::invalid(format!("url: the value of {name:?} must be plain"))
            })?;
            length = length.saturating_add(name.len() + text.len() + "=".len());
            if length > longest {
                return Err(ModuleError::TooLong);
            }
            query.append_pair(name, &text);
        }
    }
    Some(query.finish()).filter(|query| query.len() <= longest).ok_or(ModuleError::TooLong)
}

/// An object of strings, and of lists of strings where a name is repeated.
pub(crate) fn decode_query(text: &[u8], bounds: &mut Bounds) -> Result<Value, ModuleError> {
    let text = text.strip_prefix(b"?").unwrap_or(text);
    let mut fields = Map::new();
    for (name, value) in form_urlencoded::parse(text) {
        bounds.text(value.len())?;
        let value = Value::String(value.into_owned());
        match fields.get_mut(name.as_ref()) {
            Some(Value::Array(list)) => list.push(value),
            Some(first) => {
                bounds.list()?;
                let earlier = first.take();
                *first = Value::Array(vec![earlier, value]);
            }
            None => {
                bounds.field(fields.is_empty(), name.len())?;
                fields.insert(name.into_owned(), value);
            }
        }
    }
    Ok(Value::Object(fields))
}

/// An address, absolute or to be read from `base`.
#[cfg(feature = "js")]
pub(crate) fn resolve(text: &str, base: Option<&str>) -> Result<Url, ModuleError> {
    let invalid = |error| ModuleError::invalid(format!("Invalid URL: {error}"));
    let base = base.map(Url::parse).transpose().map_err(invalid)?;
    Url::options().base_url(base.as_ref()).parse(text).map_err(invalid)
}

/// What `URL` of the web shows of an address.
#[cfg(feature = "js")]
pub(crate) fn components(url: &Url) -> Value {
    serde_json::json!({
        "href": quirks::href(url), "origin": quirks::origin(url), "protocol": quirks::protocol(url),
        "username": quirks::username(url), "password": quirks::password(url),
        "host": quirks::host(url), "hostname": quirks::hostname(url), "port": quirks::port(url),
        "pathname": quirks::pathname(url), "search": quirks::search(url), "hash": quirks::hash(url),
    })
}

/// The address with a component set as `URL` of the web does it, where a value
/// that does not fit leaves the component as it is; except for `href`.
#[cfg(feature = "js")]
pub(crate) fn with_component(href: &str, name: &str, value: &str) -> Result<Url, ModuleError> {
    if name == "href" {
        return resolve(value, None);
    }
    let mut url = resolve(href, None)?;
    // What cannot be set is passed over.
    let set = match name {
        "protocol" => quirks::set_protocol,
        "username" => quirks::set_username,
        "password" => quirks::set_password,
        "host" => quirks::set_host,
        "hostname" => quirks::set_hostname,
        "port" => quirks::set_port,
        _ => {
            match name {
                "pathname" => quirks::set_pathname(&mut url, value),
                "search" => quirks::set_search(&mut url, value),
                _ => quirks::set_hash(&mut url, value),
            }
            return Ok(url);
        }
    };
    let _ = set(&mut url, value);
    Ok(url)
}

/// Lists of a name and a value, in their order.
#[cfg(feature = "js")]
pub(crate) fn query_pairs(query: &str, bounds: &mut Bounds) -> Result<Value, ModuleError> {
    let pairs = form_urlencoded::parse(query.as_bytes()).map(|(name, value)| {
        bounds.list()?;
        bounds.text(name.len())?;
        bounds.text(value.len())?;
        Ok(Value::Array(vec![name.into_owned().into(), value.into_owned().into()]))
    });
    pairs.collect::<Result<Vec<_>, _>>().map(Value::Array)
}

/// The query of such a list, of at most `longest` bytes.
#[cfg(feature = "js")]
pub(crate) fn query_text(pairs: &Value, longest: usize) -> Result<String, ModuleError> {
    let mut query = form_urlencoded::Serializer::new(String::new());
    let mut bytes = 0_usize;
    for pair in pairs.as_array().into_iter().flatten() {
        let text = |index| pair.get(index).and_then(Value::as_str).unwrap_or_default();
        let (name, value) = (text(0), text(1));
        // Each byte becomes three at most.
        bytes = bytes.saturating_add(name.len() + value.len());
        if bytes > longest {
            return Err(ModuleError::TooLong);
        }
        query.append_pair(name, value);
    }
    Ok(query.finish())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_address_is_taken_apart_and_put_together() {
        let text = "https://me:pw@example.com:8443/a/b?x=1#top";
        let parts = parse(text).expect("a good address");
        assert_eq!(
            parts,
            json!({
                "scheme": "https", "user": "me", "pass": "pw", "host": "example.com",
                "path": "/a/b", "query": "x=1", "fragment": "top", "port": 8443,
            }),
        );
        assert_eq!(build(&parts, 100).as_deref(), Ok(text));
        let query = json!({"scheme": "http", "host": "h", "query": {"a b": [1, true]}});
        assert_eq!(build(&query, 100).as_deref(), Ok("http://h/?a+b=1&a+b=true"));
        assert!(parse("/relative").is_err() && build(&json!({"host": "h"}), 100).is_err());
    }

    #[test]
    fn text_is_percent_encoded_and_back() {
        assert_eq!(encode("a b/ä~".as_bytes()), "a%20b%2F%C3%A4~");
        assert_eq!(decode(b"a%20b+c%zz%4"), b"a b c%zz%4");
    }

    #[test]
    fn repeated_names_are_lists() {
        let mut bounds = Bounds::of_memory(1 << 20);
        let decoded = decode_query(b"?a=1&b=2&a=3", &mut bounds);
        assert_eq!(decoded, Ok(json!({"a": ["1", "3"], "b": "2"})));
        for wrong in [json!({"a": {}}), json!("x")] {
            assert!(encode_query(&wrong, 100).is_err(), "{wrong}");
        }
    }

    #[test]
    fn queries_are_bounded() {
        let mut bounds = Bounds::of_memory(10_000);
        let decoded = decode_query("a&".repeat(1_000).as_bytes(), &mut bounds);
        assert_eq!(decoded, Err(ModuleError::TooLarge));
        for query in [json!({"a": "x".repeat(100)}), json!({"a": "%".repeat(50)})] {
            assert_eq!(encode_query(&query, 100), Err(ModuleError::TooLong));
        }
    }

    #[cfg(feature = "js")]
    #[test]
    fn components_are_set_as_the_web_does_it() {
        let url = resolve("../b?q#f", Some("https://u:p@example.com:8443/a/c/")).expect("a URL");
        assert_eq!(url.as_str(), "https://u:p@example.com:8443/a/b?q#f");
        assert_eq!(components(&url)["host"], "example.com:8443");
        for (name, value, expected) in [
            ("port", "443", "https://u:p@example.com/a/b?q#f"),
            ("search", "x=1", "https://u:p@example.com:8443/a/b?x=1#f"),
            ("pathname", "a b", "https://u:p@example.com:8443/a%20b?q#f"),
            ("port", "none", "https://u:p@example.com:8443/a/b?q#f"),
            ("href", "http://other.example", "http://other.example/"),
        ] {
            let changed = with_component(url.as_str(), name, value).expect("a URL");
            assert_eq!(changed.as_str(), expected, "{name}");
        }
        assert!(resolve("no address", None).is_err());
        assert!(with_component(url.as_str(), "href", "x").is_err());
    }

    #[cfg(feature = "js")]
    #[test]
    fn pairs_of_queries_are_bounded() {
        let mut bounds = Bounds::of_memory(1 << 20);
        let pairs = query_pairs("a=1&b&a=%20+", &mut bounds).expect("fits");
        assert_eq!(pairs.to_string(), r#"[["a","1"],["b",""],["a","  "]]"#);
        assert_eq!(query_text(&pairs, 100).as_deref(), Ok("a=1&b=&a=++"));
        assert_eq!(query_text(&pairs, 5), Err(ModuleError::TooLong));
        assert!(query_pairs(&"a&".repeat(100), &mut Bounds::of_memory(1000)).is_err());
    }
}
