//! Reading the table.
//!
//! `# title` begins a section, `= names` an entry. Below an entry come what it
//! is, an example in each language that has it (`lua> …`, `js> …`), and what
//! the examples print (`-> …`). A line `globals> …` lists names that are
//! the language's own.

use std::collections::BTreeSet;

/// A language of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Lua,
    Js,
}

impl Language {
    pub(super) const ALL: [Self; 2] = [Self::Lua, Self::Js];
}

/// A name of the table, or several that do the same.
#[derive(Debug, Default)]
pub(super) struct Entry {
    /// How it is called: `crypto.md5(data, raw?)`.
    pub(super) forms: Vec<String>,
    pub(super) text: String,
    lua: Option<String>,
    js: Option<String>,
    pub(super) output: String,
}

impl Entry {
    pub(super) fn example(&self, language: Language) -> Option<&str> {
        match language {
            Language::Lua => self.lua.as_deref(),
            Language::Js => self.js.as_deref(),
        }
    }

    /// The names as the runtimes have them, without arguments.
    fn names(&self) -> impl Iterator<Item = String> {
        let name = |form: &String| {
            let end = form.find(['(', '[']).unwrap_or(form.len());
            form.get(..end).unwrap_or_default().trim().replace(':', ".")
        };
        self.forms.iter().map(name)
    }
}

#[derive(Debug, Default)]
pub(super) struct Section {
    pub(super) title: String,
    pub(super) text: String,
    pub(super) entries: Vec<Entry>,
}

#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) sections: Vec<Section>,
    /// The global names of JavaScript itself.
    globals: BTreeSet<String>,
}

impl Table {
    pub(super) fn parse(text: &str) -> Self {
        let mut table = Self::default();
        for line in text.lines().filter(|line| !line.is_empty()) {
            table.line(line);
        }
        table
    }

    fn line(&mut self, line: &str) {
        if let Some(title) = line.strip_prefix("# ") {
            self.sections.push(Section { title: title.to_owned(), ..Section::default() });
            return;
        }
        let section = self.sections.last_mut().expect("a section before its entries");
        if let Some(names) = line.strip_prefix("globals> ") {
            self.globals.extend(names.split(' ').map(str::to_owned));
        } else if let Some(forms) = line.strip_prefix("= ") {
            let forms = forms.split(" · ").map(str::to_owned).collect();
            section.entries.push(Entry { forms, ..Entry::default() });
        } else if let Some(entry) = section.entries.last_mut() {
            entry.line(line);
        } else {
            push(&mut section.text, line);
        }
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.sections.iter().flat_map(|section| &section.entries)
    }

    pub(super) fn names(&self, language: Language) -> impl Iterator<Item = String> {
        let entries = self.entries().filter(move |entry| entry.example(language).is_some());
        let globals = self.globals.iter().filter(move |_| language == Language::Js);
        entries.flat_map(Entry::names).chain(globals.cloned())
    }

    pub(super) fn globals(&self) -> impl Iterator<Item = &str> {
        self.globals.iter().map(String::as_str)
    }
}

impl Entry {
    fn line(&mut self, line: &str) {
        match line.split_once("> ") {
            Some(("lua", example)) => self.lua = Some(example.to_owned()),
            Some(("js", example)) => self.js = Some(example.to_owned()),
            Some(("-", output)) => push(&mut self.output, output),
            _ => push(&mut self.text, line),
        }
    }
}

fn push(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}
