//! The address that a request goes to: a destination and what a webhook adds to it.

/// `destination` with the extra path of a webhook and with both queries. Nothing is decoded,
/// cleaned or encoded again: the destination sees the bytes that the sender sent.
///
/// ```
/// use webhook_core::forward::path::join;
///
/// let joined = join("http://localhost:3000/hook/?key=1#top", "/a%2Fb", "id=7");
/// assert_eq!(joined, "http://localhost:3000/hook/a%2Fb?key=1&id=7");
/// ```
#[must_use]
pub fn join(destination: &str, extra_path: &str, query: &str) -> String {
    let (destination, _fragment) = destination.split_once('#').unwrap_or((destination, ""));
    let (base, own_query) = destination.split_once('?').unwrap_or((destination, ""));
    let capacity = base.len() + extra_path.len() + own_query.len() + query.len() + 4;
    let mut url = String::with_capacity(capacity);
    url.push_str(base);
    if !extra_path.is_empty() {
        if url.ends_with('/') {
            url.pop();
        }
        if !extra_path.starts_with('/') {
            url.push('/');
        }
        url.push_str(extra_path);
    }
    for (query, separator) in [(own_query, '?'), (query, '&')] {
        if !query.is_empty() {
            url.push(if own_query.is_empty() { '?' } else { separator });
            url.push_str(query);
        }
    }
    url
}

/// Whether an extra path leads above the folder that it is appended to. A program that cleans
/// paths would look outside that folder, and the request has the credentials of the output.
///
/// The path is decoded once for this and split at `/` and `\`. Empty segments count for
/// nothing, because some programs join slashes, and neither does what follows a `;`, which some
/// programs cut off.
///
/// ```
/// use webhook_core::forward::path::climbs;
///
/// assert!(climbs("/../admin") && climbs("/a/%2e%2e/..%2fadmin") && climbs(r"/\..\admin"));
/// assert!(!climbs("/a/../b") && !climbs("/a%2Fb//c...") && !climbs("/x?back=/../.."));
/// ```
#[must_use]
pub fn climbs(extra_path: &str) -> bool {
    let path = extra_path.split(['?', '#']).next().unwrap_or_default();
    if !path.contains("..") && !path.contains('%') {
        return false;
    }
    let decoded: Vec<u8> = percent_encoding::percent_decode_str(path).collect();
    let mut depth = 0_usize;
    for segment in decoded.split(|byte| matches!(byte, b'/' | b'\\')) {
        match segment.split(|byte| *byte == b';').next().unwrap_or_default() {
            b"" | b"." => {}
            b".." if depth == 0 => return true,
            b".." => depth -= 1,
            _ => depth += 1,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_leaves_the_folder_climbs() {
        for path in [
            "..",
            "/..",
            "/../x",
            "../x",
            "/a/../../x",
            "/%2e%2e/x",
            "/%2E./x",
            "/.%2e",
            "/..%2fx",
            "/a/..%2F..%2fx",
            r"/..\x",
            r"\..\x",
            "/..%5cx",
            "//../x",
            "/./../x",
            "/..;a=b/x",
            "/..?x",
            "/..#x",
        ] {
            assert!(climbs(path), "{path}");
        }
        for path in [
            "",
            "/",
            "/a/..",
            "/a/../b",
            "/a/b/../../c",
            "/...",
            "/..a",
            "/a..",
            "/a%2Fb",
            "//a",
            "/%",
            "/%zz",
            "/%252e%252e/x",
            "/a?/../..",
            "/.hidden",
        ] {
            assert!(!climbs(path), "{path}");
        }
    }

    #[test]
    fn paths_and_queries_are_joined() {
        assert_eq!(join("http://a/b", "", "q=1"), "http://a/b?q=1");
        assert_eq!(join("http://a/b?k=v", "", "q=1"), "http://a/b?k=v&q=1");
        assert_eq!(join("http://a", "x/", ""), "http://a/x/");
    }
}
