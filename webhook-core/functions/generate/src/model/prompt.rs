//! What a model is told, and where the code is in its answer.

use webhook_core::model::Driver;

use super::super::generator::Pair;
use super::{Message, Role};

const LUA: &str = "You write one function in Lua 5.1 for a service that forwards webhooks. It runs as a whole script. \
It reads the body of the webhook as text from r.RequestBody and writes the new body with r:SetRequestBody(text). \
r.RequestFormData.name[1] reads a field of a form. r:SetRequestHeader(name, value) sets a header. \
local json = require(\"json\") has json.decode(text), json.encode(value) and json.null. \
local time = require(\"time\") has time.parse(text, layout) and time.format(seconds, layout, \"UTC\") with layouts of Go.";

const JAVASCRIPT: &str = "You write one function in JavaScript for a service that forwards webhooks. Its form is \
function transform(r) { …; return r; }. It reads the body of the webhook as text from r.body and writes the new body \
with r.setBody(text). r.formData.name[0] reads a field of a form. r.setHeader(name, value) sets a header. \
JSON, Date and the language's own library are available.";

const BOTH: &str = "It must give the wanted output for each sample, and for other payloads of the same shape. Take \
values from the payload; write no value of a sample into the code unless it is the same for every payload. Missing \
fields must not stop it. It must not send requests: http and fetch are refused. It has no files and no variables. \
Answer with the code only.";

/// The messages that begin a conversation.
pub(super) fn opening(info: &str, driver: Driver, pairs: &[Pair]) -> Vec<Message> {
    let language = if driver == Driver::Js { JAVASCRIPT } else { LUA };
    let samples = pairs.iter().enumerate().map(|(index, Pair { input, output, .. })| {
        format!(
            "Sample {}, the body:\n{input}\nSample {0}, the wanted output:\n{output}\n",
            index + 1
        )
    });
    let mut text: String = samples.collect();
    if !info.trim().is_empty() {
        text.push_str(&format!("Wishes: {info}\n"));
    }
    let system = Message { role: Role::System, text: format!("{language} {BOTH}") };
    vec![system, Message { role: Role::User, text }]
}

/// The message that tells what is wrong.
pub(super) fn correction(wrong: &str) -> Message {
    let text = format!("The function is wrong: {wrong}\nAnswer with the corrected code only.");
    Message { role: Role::User, text }
}

/// The code of an answer: its first block between fences, or all of it.
pub(super) fn code_in(answer: &str) -> String {
    let fenced = answer.split_once("```").and_then(|(_, rest)| {
        let (_, block) = rest.split_once('\n')?;
        Some(block.split("```").next().unwrap_or(block))
    });
    format!("{}\n", fenced.unwrap_or(answer).trim())
}

/// Whether the code names what sends requests: `fetch`, or `http` outside of an address.
pub(super) fn sends_requests(code: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    ["fetch", "http"].iter().any(|name| {
        code.match_indices(name).any(|(at, _)| {
            let before = code.get(..at).unwrap_or_default();
            let after = code.get(at + name.len()..).unwrap_or_default();
            !before.ends_with(word) && !after.starts_with(word) && !after.starts_with("://")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_found_with_and_without_fences() {
        for answer in [
            "local a = 1",
            "```lua\nlocal a = 1\n```",
            "Here it is:\n```\nlocal a = 1\n```\nIt sets a.",
            "```lua\nlocal a = 1",
        ] {
            assert_eq!(code_in(answer), "local a = 1\n", "{answer}");
        }
    }

    #[test]
    fn code_that_sends_requests_is_told_from_addresses() {
        for code in ["require(\"http\").get(u)", "fetch(u)", "globalThis[\"http\"]", "http.get(u)"]
        {
            assert!(sends_requests(code), "{code}");
        }
        for code in ["x = \"http://a.example\"", "https = 1", "prefetch()", "http_status = 1"] {
            assert!(!sends_requests(code), "{code}");
        }
    }

    #[test]
    fn samples_and_wishes_are_told() {
        let pair = Pair::sample("{\"a\":1}".to_owned(), "{\"b\":1}".to_owned());
        let messages = opening("leave out zeros", Driver::Js, &[pair]);
        assert!(messages[0].text.contains("function transform(r)"));
        let told = "Sample 1, the body:\n{\"a\":1}\nSample 1, the wanted output:\n{\"b\":1}\nWishes: leave out zeros\n";
        assert_eq!(messages[1].text, told);
    }
}
