//! What a request's free text asks for.

use webhook_core::model::Driver;

/// The language, and whether there is more than that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wish {
    /// JavaScript where the text says `JavaScript` or `JS` and does not say no to it, otherwise Lua.
    pub(crate) driver: Driver,
    /// Whether the text says more than the language.
    pub(crate) more: bool,
}

/// Words around the name of a language that are no wish of their own.
const FILLERS: &[&str] = &[
    "please", "write", "it", "in", "the", "a", "function", "as", "use", "using", "with", "code",
    "language", "me", "make", "give", "i", "want", "would", "like", "and", "not", "no", "without",
    "script", "source", "bitte", "of", "for", "this", "lua",
];

impl Wish {
    pub(crate) fn of(additional_info: &str) -> Self {
        let words: Vec<String> = additional_info
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_ascii_lowercase)
            .collect();
        let names_js =
            |word: &str| matches!(word, "javascript" | "js" | "ecmascript" | "nodejs" | "node");
        let asks = words.iter().enumerate().any(|(index, word)| {
            let before = index.checked_sub(1).and_then(|before| words.get(before));
            let denied =
                before.is_some_and(|word| matches!(word.as_str(), "not" | "no" | "without"));
            names_js(word) && !denied
        });
        let filler = |word: &String| names_js(word) || FILLERS.contains(&word.as_str());
        let driver = if asks { Driver::Js } else { Driver::Lua };
        Self { driver, more: !words.iter().all(filler) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_told_from_a_wish() {
        for (info, driver, more) in [
            ("", Driver::Lua, false),
            ("please write it in JavaScript", Driver::Js, false),
            ("JS", Driver::Js, false),
            ("in lua, not javascript", Driver::Lua, false),
            ("the adjsted total", Driver::Lua, true),
            ("in JavaScript, and leave out orders below 10 EUR", Driver::Js, true),
        ] {
            assert_eq!(Wish::of(info), Wish { driver, more }, "{info}");
        }
    }
}
