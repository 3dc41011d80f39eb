//! How alike the names of two fields are, which decides between places that hold the same value.

use std::rc::Rc;

/// One word of a name, in small letters and in the singular.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    text: String,
    /// The group of words that mean about the same, if it is in one.
    meaning: Option<usize>,
}

pub(crate) type Words = Rc<[Word]>;

/// The name of a wanted field and the names around it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    pub(crate) key: Vec<Word>,
    pub(crate) around: Vec<Word>,
}

/// Words that stand for each other in payloads.
const MEANINGS: &[&[&str]] = &[
    &["email", "mail"],
    &["quantity", "qty", "count", "amount"],
    &["id", "identifier", "uid", "uuid", "key"],
    &["number", "num", "no", "nr", "count"],
    &["message", "msg", "text", "body", "content"],
    &["description", "desc", "summary", "detail"],
    &["created", "timestamp", "date", "time", "datetime", "at", "when"],
    &["updated", "modified", "changed"],
    &["phone", "tel", "telephone", "mobile"],
    &["zip", "postal", "postcode", "zipcode"],
    &["first", "given", "forename"],
    &["last", "family", "surname"],
    &[
        "user", "author", "sender", "actor", "customer", "client", "buyer", "pusher", "owner",
        "by", "who",
    ],
    &["url", "link", "href", "uri"],
    &["name", "title", "label"],
    &["price", "amount", "cost", "total", "value"],
    &["status", "state"],
    &["repository", "repo", "project"],
    &["item", "line", "product", "entry"],
    &["sku", "code"],
    &["address", "addr"],
    &["organization", "organisation", "org", "company"],
    &["type", "kind", "event", "action"],
    &["reference", "ref", "branch"],
    &["commit", "sha", "revision", "hash"],
    &["ip", "host"],
    &["country", "nation"],
    &["duration", "length", "minute", "second", "hour", "took", "elapsed", "millisecond"],
    &["currency", "curr"],
    &["severity", "priority", "level", "urgency"],
];

fn word(text: &str) -> Word {
    let mut text = text.to_ascii_lowercase();
    // "addresses" and "address", "items" and "item"; not "status" and "address".
    if text.len() > 3 && text.ends_with("ies") {
        text.truncate(text.len() - 3);
        text.push('y');
    } else if text.len() > 4
        && ["sses", "xes", "ches", "shes"].iter().any(|end| text.ends_with(end))
    {
        text.truncate(text.len() - 2);
    } else if text.len() > 2
        && text.ends_with('s')
        && !["ss", "us", "is"].iter().any(|end| text.ends_with(end))
    {
        text.truncate(text.len() - 1);
    }
    let meaning = MEANINGS.iter().position(|group| group.contains(&text.as_str()));
    Word { text, meaning }
}

/// The words of a name in any of the usual spellings: `line_items`, `lineItems`, `Line items`, `LINE-ITEMS`.
pub(crate) fn words(name: &str) -> Vec<Word> {
    const MAX_WORDS: usize = 12;
    let mut out = Vec::new();
    let mut current = String::new();
    let mut previous = ' ';
    for c in name.chars().take(200) {
        let boundary = !c.is_alphanumeric()
            || (previous.is_lowercase() && c.is_uppercase())
            || (previous.is_alphabetic() != c.is_alphabetic() && previous.is_alphanumeric());
        if boundary && !current.is_empty() {
            out.push(word(&current));
            current.clear();
        }
        if c.is_alphanumeric() {
            current.push(c);
        }
        previous = c;
    }
    if !current.is_empty() {
        out.push(word(&current));
    }
    out.truncate(MAX_WORDS);
    out
}

/// From 0 for unrelated words to 1 for the same.
pub(crate) fn alike(a: &Word, b: &Word) -> f64 {
    if a.text == b.text {
        1.0
    } else if a.meaning.is_some() && a.meaning == b.meaning {
        0.85
    } else {
        let shorter = a.text.len().min(b.text.len());
        let shared = a.text.bytes().zip(b.text.bytes()).take_while(|(a, b)| a == b).count();
        if shared == shorter && shorter >= 3 { 0.75 } else { 0.0 }
    }
}

pub(crate) fn best<'w>(word: &Word, among: impl IntoIterator<Item = &'w Word>) -> f64 {
    among.into_iter().map(|other| alike(word, other)).fold(0.0, f64::max)
}

/// How well a place explains a wanted field by its name: 0 not at all, 1 the same name in the same surroundings.
///
/// `path` holds the words of each named step, the outermost first.
pub(crate) fn similarity(wanted: &Names, path: &[Words]) -> f64 {
    let Some((tail, ancestors)) = path.split_last() else {
        return 0.0;
    };
    let above = || ancestors.iter().flat_map(|words| words.iter());
    let around = if wanted.around.is_empty() {
        0.5
    } else {
        let shared = wanted.around.iter().map(|word| best(word, above())).fold(0.0, f64::max);
        let same_place = above().map(|word| best(word, &wanted.around)).sum::<f64>()
            / (above().count().max(1) as f64);
        shared.max(same_place)
    };
    if wanted.key.is_empty() {
        let shared = tail.iter().map(|word| best(word, &wanted.around)).fold(0.0, f64::max);
        return 0.6 * shared.max(around * 0.8 * f64::from(u8::from(!wanted.around.is_empty())));
    }
    if !tail.is_empty() && wanted.key.as_slice() == tail.as_ref() {
        return 0.9 + 0.1 * around;
    }
    let explained = |word: &Word| best(word, tail.iter()).max(0.8 * best(word, above()));
    let key = wanted.key.iter().map(explained).sum::<f64>() / wanted.key.len() as f64;
    let used = |word: &Word| best(word, &wanted.key).max(0.7 * best(word, &wanted.around));
    let tail_used = tail.iter().map(used).sum::<f64>() / tail.len().max(1) as f64;
    (0.85 * (0.55 * key + 0.45 * tail_used) + 0.08 * around).min(0.93)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(key: &str, around: &str) -> Names {
        Names { key: words(key), around: words(around) }
    }

    fn path(steps: &[&str]) -> Vec<Words> {
        steps.iter().map(|step| words(step).into()).collect()
    }

    #[test]
    fn spellings_meet() {
        let wanted = words("line_items");
        for name in ["lineItems", "LineItem", "LINE-ITEMS", "line items"] {
            assert_eq!(words(name), wanted, "{name}");
        }
        assert_eq!(words("status").first().map(|word| word.text.as_str()), Some("status"));
        assert_eq!(words("addresses"), words("address"));
    }

    #[test]
    fn the_better_explanation_is_more_alike() {
        for (wanted, better, worse) in [
            (names("customer_email", ""), vec!["customer", "email"], vec!["seller", "email"]),
            (
                names("city", "shipping"),
                vec!["shipping_address", "city"],
                vec!["billing_address", "city"],
            ),
            (names("id", ""), vec!["id"], vec!["customer", "name"]),
            (names("qty", ""), vec!["quantity"], vec!["position"]),
            (names("branch", ""), vec!["ref"], vec!["sender", "login"]),
        ] {
            let (better, worse) =
                (similarity(&wanted, &path(&better)), similarity(&wanted, &path(&worse)));
            assert!(better > worse + 0.05, "{wanted:?}: {better} against {worse}");
            assert!((0.0..=1.0).contains(&better));
        }
    }
}
