//! `docs/signatures.md` is what the engine does.

use std::{collections::BTreeSet, fmt::Write as _, fs, path::PathBuf};

use crate::common::SignatureSpec;

use webhook_signatures::{Keys, Now, Preset, presets};

use crate::{common::Sent, vectors::vectors};

const BEGIN: &str =
    "<!-- providers: UPDATE_DOCS=1 cargo test -p webhook-signatures --test engine documented -->\n";
const END: &str = "<!-- end of providers -->";

fn path() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/signatures.md"))
}

pub(crate) fn page() -> String {
    fs::read_to_string(path()).expect("the page")
}

/// A row of the table.
fn row(preset: &Preset) -> String {
    let secret = preset.fields.iter().find(|field| field.name == "secret");
    let secret = secret.map_or("none", |field| field.title.as_str());
    let more: Vec<_> = preset
        .fields
        .iter()
        .filter(|field| field.name != "secret")
        .map(|field| {
            let optional = if field.required { "" } else { ", optional" };
            format!("`{}`: {}{optional}", field.name, field.title)
        })
        .collect();
    let tolerance = match preset.scheme.timestamp.as_ref().map(|timestamp| timestamp.tolerance) {
        None => String::new(),
        Some(0) => "300 s".to_owned(),
        Some(nanos) => format!("{} s", nanos / 1_000_000_000),
    };
    let id = match preset.delivery_id.as_str() {
        "" => String::new(),
        id => format!("`{}`", id.rsplit(' ').next().unwrap_or(id)),
    };
    let kinds: BTreeSet<_> = vectors(&preset.name).into_iter().map(|vector| vector.kind).collect();
    let kinds: Vec<_> = kinds.into_iter().collect();
    format!(
        "| [{}]({}) | `{}` | {secret} | {} | `{}` | `{}` | {tolerance} | {} | {id} | {} |",
        preset.title,
        preset.docs,
        preset.name,
        more.join("; "),
        preset.header,
        preset.algorithm,
        if preset.challenge { "answered" } else { "" },
        kinds.join(", "),
    )
}

#[test]
#[allow(clippy::disallowed_methods, reason = "what a test needs from outside comes in variables")]
fn the_table_has_all_providers() {
    let mut table = String::from(
        "| provider | `provider` | paste as `secret` | beside it | signature in | algorithm | tolerance | handshake | delivery ID | held to |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for preset in presets() {
        writeln!(table, "{}", row(preset)).expect("a text");
    }
    let page = page();
    let (before, rest) = page.split_once(BEGIN).expect("the table begins");
    let (found, after) = rest.split_once(END).expect("the table ends");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        // At once: the tests beside this one read it.
        let new = path().with_extension("new");
        let page = format!("{before}{BEGIN}{table}{END}{after}");
        fs::write(&new, page).expect("is writable");
        fs::rename(new, path()).expect("is writable");
    } else {
        assert!(
            found == table,
            "UPDATE_DOCS=1 cargo test -p webhook-signatures --test engine documented"
        );
    }
}

/// The blocks of a language on the page.
pub(crate) fn blocks(page: &str) -> Vec<(&str, &str)> {
    let fenced = page.split("\n```").skip(1).step_by(2);
    fenced.filter_map(|block| block.split_once('\n')).collect()
}

#[test]
fn what_the_page_shows_works() {
    let page = page();
    let mut spec = None;
    let (mut specs, mut verified) = (0, 0);
    for (language, text) in blocks(&page) {
        match language {
            "json" => {
                let read: SignatureSpec = serde_json::from_str(text).expect(text);
                read.verifier().unwrap_or_else(|invalid| panic!("{invalid}: {text}"));
                specs += 1;
                spec = Some(read);
            }
            "http" => {
                let (head, body) = text.split_once("\n\n").expect("a head and a body");
                let mut sent = Sent::post(body);
                for line in head.lines().skip(1) {
                    let (name, value) = line.split_once(": ").expect("a header");
                    sent = sent.header(name, value);
                }
                let spec = spec.take().expect("a signature stands before it");
                let verifier = spec.verifier().expect("was compiled before");
                let now = Now::from_unix_seconds(1_767_225_601);
                let verdict = verifier.verify(&sent.request(), now, &Keys::new());
                assert!(verdict.is_verified(), "{verdict:?}: {text}");
                sent.body.push(' ');
                assert!(!verifier.verify(&sent.request(), now, &Keys::new()).is_verified());
                verified += 1;
            }
            other => panic!("a block of {other}"),
        }
    }
    assert_eq!((specs, verified), (5, 2));
}

/// Each word of the language is on the page.
#[test]
fn the_page_names_all_of_the_language() {
    let page = page();
    let source = include_str!("../../src/scheme.rs");
    let fields = source.lines().filter_map(|line| line.trim().strip_prefix("pub "));
    let fields = fields.filter_map(|rest| rest.split_once(": ").map(|(name, _)| name));
    let fields: BTreeSet<_> = fields.filter(|name| !name.contains(' ')).collect();
    assert!(fields.len() > 20, "{fields:?}");
    for field in fields {
        assert!(page.contains(&format!("`{field}`")), "{field}");
    }
    let json = serde_json::to_string(presets()).expect("JSON");
    for word in
        ["hmac-sha512", "jws-detached", "ecdsa-p256-sha256", "rfc3339", "whsec", "semicolon"]
    {
        assert!(json.contains(word) && page.contains(&format!("`{word}`")), "{word}");
    }
}
