//! The pages of the repository lead to each other, and the README to all of
//! them; what the document of the interface names is on the page about it.

use std::{
    collections::{BTreeSet, HashMap},
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The pages in a folder of the repository, by their path from its root.
fn pages_in(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).expect("a folder of pages");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let pages = names.map(|name| Path::new(folder).join(name));
    pages.filter(|page| page.extension().is_some_and(|extension| extension == "md")).collect()
}

fn read(page: &Path) -> String {
    fs::read_to_string(root().join(page)).expect("a page")
}

/// The lines outside of fenced blocks.
fn prose(text: &str) -> Vec<&str> {
    let mut fenced = false;
    let lines = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    });
    lines.collect()
}

/// `text` without what is between backticks.
fn without_code(text: &str) -> String {
    text.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

/// Where the links of a page lead, but for those out of the repository.
fn links(text: &str) -> Vec<String> {
    let text = without_code(&prose(text).join("\n"));
    let targets = text.split("](").skip(1);
    let targets = targets.map(|rest| rest.split(')').next().unwrap_or_default().to_owned());
    targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:")).collect()
}

/// The anchors of a page's headings, as GitHub makes them.
fn anchors(text: &str) -> Vec<String> {
    let mut seen = HashMap::<String, usize>::new();
    let headings = prose(text).into_iter().filter(|line| line.starts_with('#'));
    let anchors = headings.map(|heading| {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let before = seen.entry(anchor.clone()).or_default();
        *before += 1;
        match *before {
            1 => anchor,
            again => format!("{anchor}-{}", again - 1),
        }
    });
    anchors.collect()
}

#[test]
fn every_link_leads_somewhere() {
    let (mut checked, mut dead) = (0, Vec::new());
    for page in ["", "docs", "docs/cookbook"].into_iter().flat_map(pages_in) {
        for link in links(&read(&page)) {
            checked += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match path {
                "" => page.clone(),
                path => page.parent().unwrap_or(Path::new("")).join(path),
            };
            let found = root().join(&target).exists()
                && (anchor.is_empty() || anchors(&read(&target)).iter().any(|a| a == anchor));
            if !found {
                dead.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(checked > 40, "only {checked} links were found");
    assert!(dead.is_empty(), "lead nowhere:\n{}", dead.join("\n"));
}

#[test]
fn the_readme_leads_to_every_page() {
    let linked = links(&read(Path::new("README.md")));
    let missing: Vec<_> = pages_in("docs")
        .into_iter()
        .filter(|page| !linked.iter().any(|link| Path::new(link) == page))
        .collect();
    assert!(missing.is_empty(), "not in the README: {missing:?}");
}

/// The environment variables that a page names.
fn variables(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_uppercase() && c != '_');
    words.filter(|word| word.starts_with("WEBHOOK_") && !word.ends_with('_')).collect()
}

#[test]
fn every_variable_is_an_option() {
    let configuration = read(Path::new("docs/configuration.md"));
    let mut known = variables(&configuration);
    // One of the agent, one of the tests, and one of earlier versions that ends the start.
    known.extend(["WEBHOOK_SERVER_URL", "WEBHOOK_SERVER_BIN", "WEBHOOK_SHARDS"]);
    let mut unknown = Vec::new();
    for page in ["", "docs", "docs/cookbook"].into_iter().flat_map(pages_in) {
        // What was, too, is in the changes.
        if page != Path::new("CHANGELOG.md") {
            let text = read(&page);
            let names = variables(&text).into_iter().filter(|name| !known.contains(name));
            unknown.extend(names.map(|name| format!("{}: {name}", page.display())));
        }
    }
    assert!(unknown.is_empty(), "are no options:\n{}", unknown.join("\n"));
}

/// The fields and the values of a schema of the document, or the parameters of a GET.
fn names(document: &Value, of: &str) -> Vec<String> {
    let text = |name: &Value| name.as_str().expect("a name").to_owned();
    if let Some(operation) = document["paths"].get(of) {
        let parameters = operation["get"]["parameters"].as_array().expect("parameters");
        return parameters.iter().map(|parameter| text(&parameter["name"])).collect();
    }
    let schema = &document["components"]["schemas"][of];
    let fields = schema["properties"].as_object().into_iter().flat_map(|fields| fields.keys());
    let values = schema["enum"].as_array().into_iter().flatten().map(text);
    let names: Vec<_> = fields.cloned().chain(values).collect();
    assert!(!names.is_empty(), "the document has no {of}");
    names
}

#[test]
fn every_field_is_on_its_page() {
    let document = read(Path::new("docs/openapi.json"));
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let mut missing = Vec::new();
    for (page, subjects) in [
        (
            "docs/logs.md",
            &[
                "Log",
                "DeliveryStatus",
                "/v1/logs",
                "LogList",
                "/v1/logs-stats",
                "DayStats",
                "/v1/logs/histogram",
                "Histogram",
                "MinuteStats",
                "LogAction",
            ][..],
        ),
        ("docs/pulling.md", &["/v1/events", "Events", "LogReport", "DeliveryStatus"]),
        (
            "docs/retries.md",
            &["Throttle", "ThrottleMode", "RateInterval", "Durability", "RetrySchedule"],
        ),
    ] {
        let text = read(Path::new(page));
        for subject in subjects {
            // In prose, in JSON, or in a query.
            let is_named = |name: &String| {
                [format!("`{name}`"), format!("\"{name}\""), format!("{name}=")]
                    .iter()
                    .any(|form| text.contains(form))
            };
            let left_out = names(&document, subject).into_iter().filter(|name| !is_named(name));
            missing.extend(left_out.map(|name| format!("{page}: {subject} {name}")));
        }
    }
    assert!(missing.is_empty(), "not on the page:\n{}", missing.join("\n"));
}

/// The files of the repository whose name ends with one of these, but for what is built.
fn files_in(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root().join(folder)).expect("a folder") {
        let entry = entry.expect("an entry");
        let (name, path) = (entry.file_name(), folder.join(entry.file_name()));
        let name = name.to_str().expect("a name in UTF-8");
        let is_built = ["target", ".git", "corpus", "webhook-data"].contains(&name);
        if !is_built && entry.path().is_dir() {
            files_in(&path, endings, found);
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        }
    }
}

/// The pages that a comment names: words that end with `.md`.
fn named_pages(comment: &str) -> impl Iterator<Item = &str> {
    let words = comment.split(|c: char| !c.is_alphanumeric() && !"./_-{}".contains(c));
    let pages = words.map(|word| word.trim_end_matches('.')).filter(|word| word.ends_with(".md"));
    pages.filter(|page| !page.contains('{') && *page != ".md")
}

/// The comment of a line of Rust, of TOML or of a shell script.
fn comment(line: &str) -> Option<&str> {
    let is_comment =
        |line: &str| line.starts_with('#') && !line.starts_with("#[") && !line.starts_with("#![");
    let at = line.find("//").or_else(|| is_comment(line.trim_start()).then_some(0))?;
    Some(&line[at..])
}

#[test]
fn every_page_that_a_comment_names_is_there() {
    let mut files = vec![PathBuf::from(".ci/run")];
    files_in(Path::new(""), &[".rs", ".toml"], &mut files);
    // Whose samples name pages that are nowhere.
    files.retain(|file| !file.ends_with("documentation.rs"));
    let (mut checked, mut dead) = (0, Vec::new());
    for file in files {
        let text = read(&file);
        for page in text.lines().filter_map(comment).flat_map(named_pages) {
            checked += 1;
            if !root().join(page).exists() {
                dead.push(format!("{}: {page}", file.display()));
            }
        }
    }
    assert!(checked > 20, "only {checked} pages are named");
    assert!(dead.is_empty(), "are not in the repository:\n{}", dead.join("\n"));
    let comment = "//! (`docs/a.md`, b/c.md). {name}.md [d](../e.md#f)";
    assert_eq!(named_pages(comment).collect::<Vec<_>>(), ["docs/a.md", "b/c.md", "../e.md"]);
}

#[test]
fn anchors_are_those_of_github() {
    let page = "# One, `two` & three\n## A-b_c\n```\n# no heading\n```\n## A-b_c\n";
    assert_eq!(anchors(page), ["one-two--three", "a-b_c", "a-b_c-1"]);
    assert_eq!(links("[a](b.md#c) `[x](y)` [d](https://e)\n```\n[f](g)\n```\n"), ["b.md#c"]);
}
