//! The styles of other services that have an adapter: a script that runs before the source.

use super::{
    source::words,
    tokens::{Token, tokens},
};
use crate::list::list_of;

/// A style of another service.
#[derive(Debug)]
pub(super) struct Style {
    /// The name of its adapter, which is `prelude/styles/NAME.js`.
    pub(super) name: &'static str,
    /// What the adapter gets of the variables of the source.
    pub(super) variables: &'static [&'static str],
    /// Whether a source is written so.
    is_of: fn(&Script<'_>) -> bool,
}

/// Every source of these styles has one of these words.
pub(super) const SIGNS: [&str; 12] = list_of(
    "onRequest transformEvent transformBatch addEventListener export exports inputData $input $json \
    items defineComponent module",
);

const STYLES: [Style; 7] = [
    style("segment", &["onRequest"], |script| script.declares("onRequest")),
    style("rudderstack", &["transformEvent", "transformBatch"], |script| {
        script.declares("transformEvent") || script.declares("transformBatch")
    }),
    style("cloudflare", &[], |script| {
        let answers = ["async", "{", ","].iter().any(|before| script.has(&[before, "fetch", "("]));
        script.has(&["addEventListener", "("]) || (script.has(&["export", "default"]) && answers)
    }),
    style("zapier", &["output"], |script| {
        script.has(&["inputData"])
            && !script.declares("inputData")
            && !script.has(&[".", "inputData"])
    }),
    style("n8n", &[], |script| {
        let of_items = script.has(&["items", "[", "0", "]", ".", "json"]);
        script.has(&["$input"]) || script.has(&["$json"]) || (of_items && !script.declares("items"))
    }),
    style("pipedream", &[], |script| script.has(&["defineComponent", "("])),
    style("lambda", &["handler"], |script| {
        let exported = script.has(&["exports", ".", "handler"]);
        exported || (script.has(&["export", "const", "handler"]) && !script.has(&["webhook"]))
    }),
];

const fn style(
    name: &'static str,
    variables: &'static [&'static str],
    is_of: fn(&Script<'_>) -> bool,
) -> Style {
    Style { name, variables, is_of }
}

/// The style of a source, if that has an adapter.
pub(super) fn of(source: &str) -> Option<&'static Style> {
    if !words(source).any(|(_, word)| SIGNS.contains(&word)) {
        return None;
    }
    let script = Script(tokens(source)?);
    STYLES.iter().find(|style| (style.is_of)(&script))
}

struct Script<'s>(Vec<Token<'s>>);

impl Script<'_> {
    /// Whether these tokens follow one another somewhere.
    fn has(&self, texts: &[&str]) -> bool {
        self.0
            .windows(texts.len())
            .any(|tokens| tokens.iter().zip(texts).all(|(token, text)| token.text == *text))
    }

    /// Whether a name is declared.
    fn declares(&self, name: &str) -> bool {
        ["function", "const", "let", "var", "{", ","].iter().any(|word| self.has(&[word, name]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_are_told_by_what_they_declare_and_name() {
        for (source, expected) in [
            ("async function onRequest(request, settings) {}", Some("segment")),
            ("export const transformBatch = (events) => events", Some("rudderstack")),
            ("addEventListener('fetch', (event) => {})", Some("cloudflare")),
            ("export default { async fetch(request) {} }", Some("cloudflare")),
            ("output = { a: inputData.a }", Some("zapier")),
            ("return $input.all()", Some("n8n")),
            ("return items[0].json", Some("n8n")),
            ("export default defineComponent({})", Some("pipedream")),
            ("exports.handler = async (event) => {}", Some("lambda")),
            ("export const handler = async (event) => {}", Some("lambda")),
            ("export const handler = (webhook) => webhook", None),
            ("export function transform(payload) { return payload }", None),
            ("const { items } = JSON.parse(r.body); r.body = items[0].json", None),
            ("const inputData = 1", None),
            ("// onRequest", None),
            ("r.body = ''", None),
        ] {
            assert_eq!(of(source).map(|style| style.name), expected, "{source}");
        }
    }
}
