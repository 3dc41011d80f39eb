//! What scripts print, beside what Lua prints: 5.4 (`golden/generate.sh`) and 5.1
//! (`golden51/generate.sh`).

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::harness::complete;

fn scripts(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lua").join(folder);
    let entries = fs::read_dir(folder).expect("the folder of goldens");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "lua")).collect()
}

/// The lines in which what we print differs on purpose, by their numbers.
fn differences(script: &Path) -> BTreeMap<usize, String> {
    let text = fs::read_to_string(script.with_extension("differs")).unwrap_or_default();
    let lines = text.lines().map(|line| {
        let (number, line) = line.split_once('\t').expect("a number, a tab, and a line");
        (number.parse().expect("a number"), line.to_owned())
    });
    lines.collect()
}

/// What is printed by a script and should not be, or the other way round.
async fn failures(script: &Path) -> Vec<String> {
    let source = fs::read_to_string(script).expect("a script");
    let golden = fs::read_to_string(script.with_extension("out")).expect("its output");
    let differences = differences(script);
    let mut wanted: Vec<&str> = golden.lines().collect();
    let name = script.display();
    let mut failures = Vec::new();
    for (number, line) in &differences {
        match wanted.get_mut(number - 1) {
            Some(golden) if *golden != line => *golden = line,
            _ => failures.push(format!("{name}:{number}: Lua prints that too")),
        }
    }
    let completion = complete(&source).await;
    if let Err(error) = completion.result {
        failures.push(format!("{name}: {error}"));
    }
    let printed = completion.logs.join("\n");
    let printed: Vec<&str> = printed.lines().collect();
    for (number, (wanted, printed)) in wanted.iter().zip(&printed).enumerate() {
        if wanted != printed {
            failures.push(format!("{name}:{}\n  lua: {wanted}\n  got: {printed}", number + 1));
        }
    }
    let (wanted, printed) = (wanted.len(), printed.len());
    if wanted != printed {
        failures.push(format!("{name}: {printed} lines, Lua prints {wanted}"));
    }
    failures
}

async fn all_print_what_lua_prints(folder: &str, count: usize) {
    let scripts = scripts(folder);
    assert!(scripts.len() >= count, "only {} goldens", scripts.len());
    let mut all = Vec::new();
    for script in scripts {
        all.extend(failures(&script).await);
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[tokio::test]
async fn scripts_print_what_lua_5_4_prints() {
    all_print_what_lua_prints("golden", 15).await;
}

#[tokio::test]
async fn scripts_print_what_lua_5_1_prints_but_for_what_is_listed() {
    all_print_what_lua_prints("golden51", 9).await;
}
