//! The reference of both languages, from one table. A page of the documentation is made of it.
//!
//! Each example of the table runs here, and each name that a runtime defines is
//! in the table.

mod page;
mod run;
mod table;

use std::{collections::BTreeSet, fs, path::Path};

use self::{
    run::{Runtimes, defined_in_js, defined_in_lua},
    table::{Language, Table},
};

fn table() -> Table {
    Table::parse(include_str!("table.txt"))
}

#[tokio::test]
async fn every_example_prints_what_the_reference_says() {
    let runtimes = Runtimes::start();
    let mut wrong = Vec::new();
    for entry in table().entries() {
        for language in Language::ALL {
            let Some(example) = entry.example(language) else { continue };
            let printed = runtimes.print(language, example).await;
            if printed != entry.output {
                wrong.push(format!("{example}\n  says {}\n  got  {printed}", entry.output));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn every_name_that_a_runtime_defines_is_in_the_reference() {
    let runtimes = Runtimes::start();
    let table = table();
    for (language, defined) in [
        (Language::Lua, defined_in_lua(&runtimes).await),
        (Language::Js, defined_in_js(&runtimes).await),
    ] {
        let listed: BTreeSet<_> = table.names(language).collect();
        let missing: Vec<_> = defined.iter().filter(|name| !listed.contains(*name)).collect();
        assert!(missing.is_empty(), "{language:?}: not in the reference: {missing:?}");
        let more: Vec<_> = listed.iter().filter(|name| !defined.contains(*name)).collect();
        assert!(more.is_empty(), "{language:?}: only in the reference: {more:?}");
    }
}

#[test]
fn the_page_is_made_from_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/functions-reference.md");
    let page = page::page(&table());
    #[expect(clippy::disallowed_methods, reason = "no option of the server")]
    let update_page = std::env::var_os("UPDATE_DOCS").is_some();
    if update_page {
        fs::write(&path, &page).expect("the page can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    let update = "UPDATE_DOCS=1 cargo test -p webhook-functions --features js,lua --lib reference";
    assert!(found == page, "{update}");
}
