//! Names in the global object that lead to what the prelude makes when a script first has them.
//! The guard makes what they name.

use super::source::words;
use crate::list::list_of;

/// Modules.
pub(super) const MODULES: [&str; 12] =
    list_of("http crypto base64 hex url jwt xml yaml csv kv time jmespath");

/// Modules whose names are names of many other things, with what a source calls of them. They are
/// there for a source that calls one of these functions.
pub(super) const PLAIN_WORDS: [(&str, &[&str]); 2] = [("id", &OF_ID), ("template", &OF_TEMPLATE)];
pub(super) const OF_ID: [&str; 6] = list_of("uuid uuid_v7 uuidV7 ulid nano_id nanoId");
pub(super) const OF_TEMPLATE: [&str; 1] = ["render"];

/// Names of the web.
pub(super) const OF_WEB: [&str; 9] =
    list_of("URL URLSearchParams TextEncoder TextDecoder Headers atob btoa structuredClone fetch");

/// Names of streams and of what is made of them.
pub(super) const OF_STREAMS: [&str; 5] =
    list_of("Blob CompressionStream DecompressionStream ReadableStream Response");

/// What the language has, and the host beside it.
const OTHERS: [&str; 34] = list_of(
    "Map Set WeakMap WeakSet Date ArrayBuffer DataView Uint8Array Int8Array Uint8ClampedArray \
    Uint16Array Int16Array Uint32Array Int32Array Float16Array Float32Array Float64Array \
    parseInt parseFloat decodeURI decodeURIComponent encodeURI encodeURIComponent escape \
    unescape Reflect Intl cfg console process addHandler setTimeout clearTimeout $transform",
);

/// Whether a source means a module by a word: one that is no plain word, or one whose functions
/// it calls.
pub(super) fn means_module(source: &str, name: &str) -> bool {
    let Some((_, functions)) = PLAIN_WORDS.iter().find(|(plain, _)| *plain == name) else {
        return true;
    };
    words(source).filter(|(_, word)| *word == name).any(|(at, word)| {
        let is_field = source[..at].trim_end().ends_with('.');
        let behind = source[at + word.len()..].trim_start();
        let behind = behind.strip_prefix('?').unwrap_or(behind).strip_prefix('.');
        let member = behind.and_then(|behind| words(behind.trim_start()).next());
        !is_field && member.is_some_and(|(at, member)| at == 0 && functions.contains(&member))
    })
}

/// All of them.
pub(super) fn late() -> impl Iterator<Item = &'static str> {
    let plain = PLAIN_WORDS.into_iter().map(|(name, _)| name);
    OTHERS.into_iter().chain(MODULES).chain(plain).chain(OF_WEB).chain(OF_STREAMS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_are_modules_where_their_functions_are_called() {
        for source in ["r.setHeader('a', id.ulid())", "id . uuid()", "id?.nanoId(3)"] {
            assert!(means_module(source, "id"), "{source}");
        }
        for source in ["order.id.uuid", "const id = a.id", "id", "{ id }", "id.length", "uuid.id"] {
            assert!(!means_module(source, "id"), "{source}");
        }
        assert!(means_module("template.render('', {})", "template"));
        assert!(!means_module("a.template.render('')", "template"));
        assert!(means_module("", "kv"));
    }
}
