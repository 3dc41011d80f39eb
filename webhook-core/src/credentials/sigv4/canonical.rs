//! A request in the form that is signed.

use url::form_urlencoded;

/// What is signed of a request.
pub(super) struct Canonical<'a> {
    pub(super) method: &'a str,
    /// As it is sent.
    pub(super) path: &'a str,
    pub(super) path_form: PathForm,
    /// As it is sent, without `?`.
    pub(super) query: &'a str,
    /// Names in lower case, in any order.
    pub(super) headers: Vec<(&'a str, &'a [u8])>,
    /// The body's digest in hex.
    pub(super) payload: &'a str,
}

/// How services read a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathForm {
    /// Dots and double slashes are resolved, and what is sent is encoded once more.
    Resolved,
    /// As [`Resolved`](Self::Resolved) without resolving, which only AWS's suite asks for.
    #[cfg(test)]
    Unresolved,
    /// S3: the path is the name of an object, whatever it looks like.
    AsStored,
}

impl PathForm {
    pub(super) fn of(service: &str) -> Self {
        if service.starts_with("s3") { Self::AsStored } else { Self::Resolved }
    }
}

impl Canonical<'_> {
    /// The canonical request and the names of the signed headers.
    pub(super) fn text(&self) -> (Vec<u8>, String) {
        let mut headers = self.headers.clone();
        // Stable: values of one name keep their order.
        headers.sort_by_key(|(name, _)| *name);
        let mut lines = Vec::new();
        let mut names: Vec<&str> = Vec::new();
        for (name, value) in headers {
            if names.last() == Some(&name) {
                lines.push(b',');
            } else {
                if !names.is_empty() {
                    lines.push(b'\n');
                }
                names.push(name);
                lines.extend_from_slice(name.as_bytes());
                lines.push(b':');
            }
            lines.extend(trimmed(value));
        }
        let names = names.join(";");
        let head = format!("{}\n{}\n{}\n", self.method, self.path(), self.query());
        let tail = format!("\n\n{names}\n{}", self.payload);
        ([head.into_bytes(), lines, tail.into_bytes()].concat(), names)
    }

    fn path(&self) -> String {
        let mut path = String::with_capacity(self.path.len() + 8);
        match self.path_form {
            PathForm::Resolved => encode(resolved(self.path).as_bytes(), true, &mut path),
            #[cfg(test)]
            PathForm::Unresolved => encode(self.path.as_bytes(), true, &mut path),
            PathForm::AsStored => encode_rest(self.path, &mut path),
        }
        if path.is_empty() { "/".to_owned() } else { path }
    }

    fn query(&self) -> String {
        let pairs = form_urlencoded::parse(self.query.as_bytes());
        let encoded = |text: &str| {
            let mut encoded = String::with_capacity(text.len());
            encode(text.as_bytes(), false, &mut encoded);
            encoded
        };
        let mut pairs: Vec<_> =
            pairs.map(|(name, value)| (encoded(&name), encoded(&value))).collect();
        pairs.sort();
        let pairs: Vec<_> =
            pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join("&")
    }
}

/// Without blanks around it, and one for several within.
fn trimmed(value: &[u8]) -> impl Iterator<Item = u8> {
    let mut after_blank = false;
    value.trim_ascii().iter().copied().filter_map(move |byte| {
        let blank = byte.is_ascii_whitespace();
        let kept = (!blank || !after_blank).then_some(if blank { b' ' } else { byte });
        after_blank = blank;
        kept
    })
}

/// Without empty segments, `.` and `..` (RFC 3986 section 5.2.4).
fn resolved(path: &str) -> String {
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    let last = path.rsplit('/').next().unwrap_or_default();
    let closed = matches!(last, "" | "." | "..") && !segments.is_empty();
    format!("/{}{}", segments.join("/"), if closed { "/" } else { "" })
}

fn encode(bytes: &[u8], is_path: bool, text: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || (is_path && byte == b'/') {
            text.push(char::from(byte));
        } else {
            let digit = |digit: u8| char::from(DIGITS[usize::from(digit)]);
            text.extend(['%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
}

/// Encodes what is not, and leaves what is.
fn encode_rest(path: &str, text: &mut String) {
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = |at: usize| after.get(at).is_some_and(u8::is_ascii_hexdigit);
        let (part, further) = match *first == b'%' && hex(0) && hex(1) {
            true => rest.split_at(3),
            false => rest.split_at(1),
        };
        match part.len() {
            3 => text.extend(part.iter().map(|byte| char::from(byte.to_ascii_uppercase()))),
            _ => encode(part, true, text),
        }
        rest = further;
    }
}
