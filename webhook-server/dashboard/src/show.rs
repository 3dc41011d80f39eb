//! How things look as text: moments, sizes, statuses, bodies, commands.

use std::{borrow::Cow, fmt::Write};

use axum::http::HeaderMap;
use jiff::tz::TimeZone;
use webhook_core::{
    Timestamp, content,
    model::{DeliveryStatus, Headers, Reason, Request},
};

/// How much of a body a page shows; the whole can be downloaded.
pub(crate) const SHOWN_BYTES: usize = 64 << 10;
/// How many headers a page shows of one request.
const SHOWN_HEADERS: usize = 500;

fn format(moment: Timestamp, how: &str) -> String {
    let moment = jiff::Timestamp::from_millisecond(moment.as_millis());
    moment
        .map_or_else(|_| "–".to_owned(), |it| it.to_zoned(TimeZone::UTC).strftime(how).to_string())
}

/// A moment with its zone.
pub(crate) fn moment(moment: Timestamp) -> String {
    format(moment, "%Y-%m-%d %H:%M:%S UTC")
}

/// The time of day, for lists.
pub(crate) fn time(moment: Timestamp) -> String {
    format(moment, "%m-%d %H:%M:%S")
}

/// An hour and its day.
pub(crate) fn hour(moment: Timestamp) -> String {
    format(moment, "%b %-d, %H:00 UTC")
}

/// How long ago something was.
pub(crate) fn ago(moment: Timestamp, now: Timestamp) -> String {
    let seconds = now.since(moment).as_secs();
    match seconds {
        0..=1 => "just now".to_owned(),
        2..=119 => format!("{seconds} s ago"),
        120..=7_199 => format!("{} min ago", seconds / 60),
        7_200..=172_799 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

/// A number of bytes.
pub(crate) fn bytes(bytes: u64) -> String {
    size(usize::try_from(bytes).unwrap_or(usize::MAX))
}

pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        0..=1_023 => format!("{bytes} B"),
        1_024..=1_048_575 => format!("{}.{} KiB", bytes / 1_024, bytes % 1_024 * 10 / 1_024),
        _ => format!("{}.{} MiB", bytes >> 20, ((bytes & 0xf_ffff) * 10) >> 20),
    }
}

/// A status as colour, sign and word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) class: &'static str,
    pub(crate) sign: &'static str,
    pub(crate) word: &'static str,
}

pub(crate) fn mark(status: DeliveryStatus) -> Mark {
    let (class, sign, word) = match status {
        DeliveryStatus::Sent => ("good", "✓", "sent"),
        DeliveryStatus::Failed => ("bad", "✕", "failed"),
        DeliveryStatus::Stalled => ("warn", "‖", "stalled"),
        DeliveryStatus::Rejected => ("quiet", "⊘", "rejected"),
        DeliveryStatus::Received => ("wait", "◷", "waiting"),
        DeliveryStatus::Preparing => ("wait", "➜", "sending"),
    };
    Mark { class, sign, word }
}

/// What was said of a signature.
pub(crate) fn verified(verified: bool) -> Mark {
    let (class, sign, word) =
        if verified { ("good", "✓", "verified") } else { ("bad", "✕", "not verified") };
    Mark { class, sign, word }
}

/// Why a delivery ended as it did, in words.
pub(crate) fn reason(reason: Reason) -> String {
    reason.as_str().replace('_', " ")
}

/// Headers as lines of name and value. Of very many the first are shown.
pub(crate) fn headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let shown = headers.iter().take(SHOWN_HEADERS).map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (Headers::canonical_name(name), value)
    });
    shown.collect()
}

/// Headers as they are typed in a form.
pub(crate) fn header_lines(all: &HeaderMap) -> String {
    let lines = headers(all).into_iter().map(|(name, value)| format!("{name}: {value}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// How much of a body is compared with another.
const COMPARED_BYTES: usize = 20 << 10;

/// A body decompressed and in UTF-8, as far as its headers say how it is encoded.
pub(crate) fn content<'b>(headers: &HeaderMap, body: &'b [u8]) -> Cow<'b, [u8]> {
    content::decoded(headers, body).map_or(Cow::Borrowed(body), |it| Cow::Owned(it.bytes))
}

/// A body as lines that can be compared: JSON with a field in each, what is no text as
/// hexadecimal, and only the first part of what is long.
pub(crate) fn comparable(body: &[u8]) -> String {
    let shown = match pretty_json(body) {
        Some(pretty) => text(pretty.as_bytes()).0,
        None if std::str::from_utf8(body).is_ok() => text(body).0,
        None => hex(body).0,
    };
    let cut = shown.floor_char_boundary(COMPARED_BYTES);
    match cut < shown.len() {
        true => format!("{}\n… and more, which is not compared", &shown[..cut]),
        false => shown,
    }
}

/// The JSON in a body with a field in each line; none for a body without JSON.
pub(crate) fn pretty(headers: &HeaderMap, body: &[u8]) -> Option<String> {
    match content::json_in(headers, body) {
        Some(json) => pretty_json(json.as_bytes()),
        None => pretty_json(body),
    }
}

fn pretty_json(body: &[u8]) -> Option<String> {
    if body.len() > SHOWN_BYTES {
        return None;
    }
    let value: serde_json::Value = serde_json::from_slice(body).ok()?;
    serde_json::to_string_pretty(&value).ok()
}

/// The first part of a body as text, and whether that is all of it.
pub(crate) fn text(body: &[u8]) -> (String, bool) {
    let shown = body.get(..SHOWN_BYTES).unwrap_or(body);
    let text = String::from_utf8_lossy(shown);
    // Control characters would turn the direction of what follows, or be nothing to see.
    let text = text.chars().map(|c| match c {
        '\n' | '\t' => c,
        '\r' => ' ',
        c if c.is_control() || is_direction(c) => '\u{fffd}',
        c => c,
    });
    (text.collect(), shown.len() == body.len())
}

fn is_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The first part of a body as hexadecimal, 16 bytes in a line.
pub(crate) fn hex(body: &[u8]) -> (String, bool) {
    let shown = body.get(..SHOWN_BYTES / 4).unwrap_or(body);
    let mut text = String::new();
    for (number, line) in shown.chunks(16).enumerate() {
        let _ = write!(text, "{:08x}  ", number * 16);
        for at in 0..16 {
            match line.get(at) {
                Some(byte) => drop(write!(text, "{byte:02x} ")),
                None => text.push_str("   "),
            }
            if at == 7 {
                text.push(' ');
            }
        }
        let ascii = line.iter().map(|byte| match byte {
            0x20..=0x7e => char::from(*byte),
            _ => '.',
        });
        text.push(' ');
        text.extend(ascii);
        text.push('\n');
    }
    (text, shown.len() == body.len())
}

/// Headers that curl sets itself, or that say how a request travelled.
const LEFT_OUT: [&str; 7] =
    ["host", "content-length", "connection", "user-agent", "accept", "accept-encoding", "cookie"];

/// The command that sends this request again; none when its body is no text or too long
/// for a command line.
pub(crate) fn curl(request: &Request, url: &str) -> Option<String> {
    // No argument of a program has a NUL.
    let fits = |it: &&str| it.len() <= 16 << 10 && !it.contains('\0');
    let body = std::str::from_utf8(&request.body).ok().filter(fits)?;
    let mut command = format!("curl -sS -i -X {}", quoted(request.method.as_str()));
    let sent = request.headers.iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()));
    for (name, value) in sent.take(SHOWN_HEADERS) {
        let value = std::str::from_utf8(value.as_bytes()).ok()?;
        let header = format!("{}: {value}", Headers::canonical_name(name));
        let _ = write!(command, " \\\n  -H {}", quoted(&header));
    }
    if !body.is_empty() {
        let _ = write!(command, " \\\n  --data-raw {}", quoted(body));
    }
    let query = if request.raw_query.is_empty() { "" } else { "?" };
    let url = format!("{url}{}{query}{}", request.extra_path, request.raw_query);
    let _ = write!(command, " \\\n  {}", quoted(&url));
    Some(command)
}

/// Text in the quotes of a POSIX shell.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use axum::http::Method;

    use super::*;

    #[test]
    fn a_command_says_exactly_what_was_sent() {
        let request = Request {
            method: Method::POST,
            extra_path: "/a".to_owned(),
            raw_query: "b=1&c=$(d)".to_owned(),
            headers: HeaderMap::from_iter([(
                axum::http::header::CONTENT_TYPE,
                "text/plain".parse().expect("a value"),
            )]),
            body: "it's `x`".into(),
        };
        let command = curl(&request, "http://h/v1/webhooks/i").expect("text");
        let expected = "curl -sS -i -X 'POST' \\\n  -H 'Content-Type: text/plain' \\\n  \
            --data-raw 'it'\\''s `x`' \\\n  'http://h/v1/webhooks/i/a?b=1&c=$(d)'";
        assert_eq!(command, expected);
        let binary = Request { body: b"\xff".as_slice().into(), ..request };
        assert_eq!(curl(&binary, "http://h"), None);
    }

    #[test]
    fn bodies_are_bounded_and_harmless() {
        let (shown, whole) = text("a\u{202e}b\u{0}\r\n".as_bytes());
        assert_eq!((shown.as_str(), whole), ("a\u{fffd}b\u{fffd} \n", true));
        let long = vec![b'x'; SHOWN_BYTES + 1];
        assert!(!text(&long).1 && !hex(&long).1);
        assert_eq!(text(&long).0.len(), SHOWN_BYTES);
        assert!(hex(b"abc\x00").0.starts_with("00000000  61 62 63 00"));
        assert!(hex(b"abc\x00").0.ends_with(" abc.\n"));
    }

    #[test]
    fn moments_sizes_and_ages() {
        let start = Timestamp::from_secs(1_700_000_000);
        assert_eq!(moment(start), "2023-11-14 22:13:20 UTC");
        assert_eq!(ago(start, start + std::time::Duration::from_secs(600)), "10 min ago");
        assert_eq!([size(5), size(1_536), size(5 << 20)], ["5 B", "1.5 KiB", "5.0 MiB"]);
    }
}
