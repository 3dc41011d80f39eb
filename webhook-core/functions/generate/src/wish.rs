//! What a request's free text asks for.

use webhook_core::{
    function::generate::{GenerateError, GenerateRequest},
    model::Driver,
};

/// The language, and whether there is more than that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wish {
    /// The driver of the request. Without one, JavaScript where the text says `JavaScript` or `JS`
    /// and does not say no to it, otherwise Lua.
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
    /// # Errors
    /// No function is written in the language of the request.
    pub(crate) fn of(request: &GenerateRequest) -> Result<Self, GenerateError> {
        if request.driver == Some(Driver::Wasm) {
            let reason = "functions are written in lua and js".to_owned();
            return Err(GenerateError::Invalid { field: "driver", reason });
        }
        let words: Vec<String> = request
            .additional_info
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
        let driver = request.driver.unwrap_or(if asks { Driver::Js } else { Driver::Lua });
        Ok(Self { driver, more: !words.iter().all(filler) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_told_from_a_wish() {
        let of = |asked, info: &str| {
            let additional_info = info.to_owned();
            Wish::of(&GenerateRequest { driver: asked, additional_info, ..Default::default() })
        };
        for (asked, info, driver, more) in [
            (None, "", Driver::Lua, false),
            (None, "please write it in JavaScript", Driver::Js, false),
            (None, "JS", Driver::Js, false),
            (None, "in lua, not javascript", Driver::Lua, false),
            (None, "the adjsted total", Driver::Lua, true),
            (None, "in JavaScript, and leave out orders below 10 EUR", Driver::Js, true),
            (Some(Driver::Js), "", Driver::Js, false),
            (Some(Driver::Lua), "in JavaScript", Driver::Lua, false),
        ] {
            let wish = of(asked, info).expect("a language that functions are written in");
            assert_eq!(wish, Wish { driver, more }, "{asked:?} {info}");
        }
        let refused = of(Some(Driver::Wasm), "").expect_err("no such function is written");
        assert_eq!(refused.to_string(), "driver: functions are written in lua and js");
    }
}
