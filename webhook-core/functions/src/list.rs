//! Lists of names, written as texts.

/// The `N` words of a text, as the compiler reads it.
pub(crate) const fn list_of<const N: usize>(text: &'static str) -> [&'static str; N] {
    let (mut words, mut count) = ([""; N], 0);
    let (mut start, mut end) = (0, 0);
    while end <= text.len() {
        if end == text.len() || text.as_bytes()[end] == b' ' {
            words[count] = text.split_at(end).0.split_at(start).1;
            count += 1;
            start = end + 1;
        }
        end += 1;
    }
    assert!(count == N, "not as many words");
    words
}
