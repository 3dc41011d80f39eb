//! Makes the webhooks that senders send. The number of a webhook determines all of it, and no
//! two webhooks are equal.

use std::collections::HashMap;

use benches::event;

use crate::content::Content;

const METHODS: [&str; 4] = ["POST", "PUT", "PATCH", "DELETE"];
/// How often the number is written into a body, so that no piece passes for another's.
const STEP: usize = 4 << 10;
/// What the extra paths begin with.
const FOLDER: &str = "/number/";

/// How large the bodies are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Sizes {
    /// Bytes of most bodies.
    pub(crate) usual: usize,
    /// Whether some are larger than the memory that the server may use.
    pub(crate) has_large: bool,
}

impl Sizes {
    const MIDDLE: usize = 100_000;
    const LARGE: usize = 3_000_000;

    fn of(self, id: u64) -> usize {
        match (self.has_large, id % 256) {
            (true, 5) => Self::LARGE,
            (true, place) if place % 16 == 3 => Self::MIDDLE,
            _ => self.usual,
        }
    }
}

/// A name and its value.
type Header = (&'static str, Vec<u8>);

/// A webhook that is ready to be sent.
#[derive(Debug)]
pub(crate) struct Webhook {
    /// The request up to the body.
    pub(crate) head: Vec<u8>,
    pub(crate) body: Vec<u8>,
    /// The content that must arrive.
    pub(crate) content: Content,
}

/// Makes webhooks for one input.
#[derive(Debug)]
pub(crate) struct Webhooks {
    path: String,
    host: String,
    sizes: Sizes,
    /// Bodies without a number, by their length.
    bodies: HashMap<usize, Vec<u8>>,
}

impl Webhooks {
    pub(crate) fn new(path: &str, host: &str, sizes: Sizes) -> Self {
        Self { path: path.to_owned(), host: host.to_owned(), sizes, bodies: HashMap::new() }
    }

    pub(crate) fn make(&mut self, id: u64) -> Webhook {
        let bytes = self.sizes.of(id);
        let template = self.bodies.entry(bytes).or_insert_with(|| event::body(bytes));
        let mut body = template.clone();
        event::number(&mut body, 0, id);
        let number = format!("{id:010}");
        for place in (STEP..body.len().saturating_sub(STEP)).step_by(STEP) {
            body[place..place + number.len()].copy_from_slice(number.as_bytes());
        }
        let method = METHODS[(id % 4) as usize];
        let target = target(id);
        let headers = headers(id);
        let content = Content::of(method, &target, lines(&headers), &body);
        let mut head = format!("{method} {}{target} HTTP/1.1\r\n", self.path).into_bytes();
        let length = body.len().to_string();
        // The relay drops or replaces these headers. Only `Connection` says that it must drop
        // `X-Torture-Hop`.
        let replaced = [
            ("Host", self.host.as_str()),
            ("Content-Length", &length),
            ("Connection", "keep-alive, X-Torture-Hop"),
            ("X-Torture-Hop", &number),
            ("X-Forwarded-For", "192.0.2.1"),
            ("TE", "trailers"),
        ];
        let replaced = replaced.into_iter().map(|(name, value)| (name, value.as_bytes()));
        for (name, value) in replaced.chain(lines(&headers)) {
            head.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        head.extend(b"\r\n");
        Webhook { head, body, content }
    }
}

fn lines(headers: &[Header]) -> impl Iterator<Item = (&str, &[u8])> {
    headers.iter().map(|(name, value)| (*name, value.as_slice()))
}

/// The extra path and the query. Some paths end with a slash, and some webhooks have no query.
fn target(id: u64) -> String {
    let end = if id % 7 == 3 { "/a%20b/" } else { "" };
    let query = if id.is_multiple_of(5) { String::new() } else { format!("?n={id}&e=%C3%A9&n=2") };
    format!("{FOLDER}{id:010}{end}{query}")
}

/// The number of a webhook with this extra path.
pub(crate) fn number(extra_path: &str) -> Option<u64> {
    extra_path.strip_prefix(FOLDER)?.split('/').next()?.parse().ok()
}

fn headers(id: u64) -> Vec<Header> {
    let long = "x".repeat((id % 300) as usize);
    let mut headers = vec![
        ("Content-Type", b"application/json".to_vec()),
        ("User-Agent", format!("torture/{id}").into_bytes()),
        ("X-Torture-Number", id.to_string().into_bytes()),
        ("X-Torture-List", format!("{id}-b").into_bytes()),
        ("X-Torture-List", format!("{id}-a").into_bytes()),
        // A byte that is no UTF-8.
        (
            "X-Torture-Text",
            [format!("{id} caf").as_bytes(), b"\xe9 ", long.as_bytes(), b"."].concat(),
        ),
    ];
    if id % 3 == 1 {
        headers.push(("Accept-Encoding", format!("gzip;q=0.{}", id % 10).into_bytes()));
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_webhooks_are_alike_and_each_says_its_number() {
        let sizes = Sizes { usual: 200, has_large: true };
        let mut webhooks = Webhooks::new("/in", "h", sizes);
        let (one, other) = (webhooks.make(64), webhooks.make(128));
        assert_eq!(one.content.differences(&other.content).len(), 3);
        assert_eq!(event::read(&one.body), Some(64));
        assert_eq!(number("/number/0000000064/a%20b/"), Some(64));
        assert_eq!(number("/other/0000000064"), None);
        let lengths: Vec<_> = [5, 3, 4].map(|id| webhooks.make(id).body.len()).into();
        assert_eq!(lengths, [Sizes::LARGE, Sizes::MIDDLE, 200]);
    }

    #[test]
    fn pieces_of_two_large_bodies_differ() {
        let sizes = Sizes { usual: Sizes::MIDDLE, has_large: false };
        let mut webhooks = Webhooks::new("/in", "h", sizes);
        let (one, other) = (webhooks.make(1).body, webhooks.make(2).body);
        let pieces = one.chunks(2 * STEP).zip(other.chunks(2 * STEP));
        assert!(pieces.take(11).all(|(one, other)| one != other));
        assert_eq!(event::read(&one), Some(1));
    }
}
