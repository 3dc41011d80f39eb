//! The table as a page.

use std::fmt::Write as _;

use super::table::{Entry, Language, Table};

const INTRODUCTION: &str = "# Reference of functions

Everything that the runtimes define, by name. This page is made from a table whose examples run as tests
(`webhook-core/functions/src/reference/table.txt`):
`UPDATE_DOCS=1 cargo test -p webhook-functions --features js,lua --lib reference`. Where functions run is in
[Functions](functions.md), with the list of what differs from Lua; for JavaScript that is in
[Functions in JavaScript](functions-javascript.md). What people write is in the [cookbook](cookbook.md).

`name?` is an argument that may be left out. Where only one example stands, it is the same in both languages, or the name is
there in one. In the examples of Lua the modules are loaded already (`local json = require(\"json\")`).

**Errors.** An argument of a wrong type ends the script with the line, the number of the argument and what it should be. A
function of a module that cannot do what it is asked, because of what the texts say, returns `nil` and the reason in Lua and
throws an `Error` with that reason in JavaScript. What goes over a limit ends the call; nothing catches that.
";

pub(super) fn page(table: &Table) -> String {
    let mut page = INTRODUCTION.to_owned();
    for section in &table.sections {
        // Writing to a string does not fail.
        let _ = write!(page, "\n## {}\n", section.title);
        if !section.text.is_empty() {
            let _ = write!(page, "\n{}\n", section.text);
        }
        if section.entries.is_empty() {
            let names: Vec<_> = table.globals().map(|name| format!("`{name}`")).collect();
            let _ = write!(page, "\n{}\n", names.join(" "));
            continue;
        }
        page.push_str("\n| name | | example |\n|---|---|---|\n");
        for entry in &section.entries {
            let forms: Vec<_> = entry.forms.iter().map(|form| code(form)).collect();
            let text = entry.text.replace('\n', " ").replace('|', "\\|");
            let _ = writeln!(page, "| {} | {text} | {} |", forms.join("<br>"), examples(entry));
        }
    }
    page
}

fn examples(entry: &Entry) -> String {
    let lua = entry.example(Language::Lua);
    let js = entry.example(Language::Js).filter(|js| Some(*js) != lua);
    let mut parts: Vec<_> = lua.into_iter().chain(js).map(code).collect();
    if !entry.output.is_empty() {
        parts.push(format!("→ {}", code(&entry.output.replace('\n', " ⏎ "))));
    }
    parts.join("<br>")
}

/// As code in a cell of a table.
fn code(text: &str) -> String {
    let text = text.replace('|', "\\|");
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}
