//! The pages of the cookbook and the scripts on them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use webhook_core::model::Driver;

/// The scripts of one scenario, by their language.
pub(crate) type Scripts = Vec<(Driver, Arc<str>)>;

/// What was written for other services is in their language only.
const WITHOUT_LUA: &str = "other-services";

/// The scenarios of a page: `## Title`, and below it a block of each language.
pub(crate) struct Page {
    languages: &'static [(Driver, &'static str)],
    blocks: BTreeMap<String, BTreeMap<String, String>>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cookbook")
}

pub(crate) fn text(file: &str) -> String {
    fs::read_to_string(folder().join(file)).expect("a page")
}

/// The names of all pages.
pub(crate) fn names() -> Vec<String> {
    let entries = fs::read_dir(folder()).expect("the folder of pages");
    entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

impl Page {
    pub(crate) fn read(name: &str) -> Self {
        let mut blocks: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        let mut title = None;
        let mut open: Option<(String, String)> = None;
        for line in text(&format!("{name}.md")).lines() {
            match (&mut open, line.strip_prefix("```")) {
                (Some(_), Some("")) => {
                    let (language, script) = open.take().expect("matched above");
                    let title = title.clone().expect("a block below a title");
                    let before = blocks.entry(title).or_default().insert(language, script);
                    assert!(before.is_none(), "two blocks of one language before: {line}");
                }
                (Some((_, script)), _) => {
                    script.push_str(line);
                    script.push('\n');
                }
                (None, Some(language)) => open = Some((language.to_owned(), String::new())),
                (None, None) => {
                    if let Some(heading) = line.strip_prefix("## ") {
                        title = Some(heading.to_owned());
                        blocks.entry(heading.to_owned()).or_default();
                    }
                }
            }
        }
        assert!(open.is_none(), "{name}: a block that does not end");
        let languages: &[_] = match name {
            WITHOUT_LUA => &[(Driver::Js, "js")],
            _ => &[(Driver::Lua, "lua"), (Driver::Js, "js")],
        };
        Self { languages, blocks }
    }

    pub(crate) fn titles(&self) -> BTreeSet<String> {
        self.blocks.keys().cloned().collect()
    }

    pub(crate) fn scripts(&self, title: &str) -> Scripts {
        let block = |language: &str| {
            let block = self.blocks.get(title).and_then(|blocks| blocks.get(language));
            Arc::from(block.unwrap_or_else(|| panic!("{title}: no {language}")).as_str())
        };
        self.languages.iter().map(|(driver, language)| (*driver, block(language))).collect()
    }
}
