//! What scripts print, beside what Lua 5.4 prints (see `golden/generate.sh`).

use std::{fs, path::Path};

use crate::harness::complete;

#[tokio::test]
async fn scripts_print_what_lua_prints() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lua/golden");
    let mut failures = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(&folder).expect("the folder of goldens") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "lua") {
            continue;
        }
        let source = fs::read_to_string(&path).expect("a script");
        let wanted = fs::read_to_string(path.with_extension("out")).expect("its output");
        let completion = complete(&source).await;
        let printed = completion.logs.join("\n");
        if let Err(error) = completion.result {
            failures.push(format!("{}: {error}", path.display()));
        }
        for (number, (wanted, printed)) in wanted.lines().zip(printed.lines()).enumerate() {
            if wanted != printed {
                let name = path.display();
                let line = number + 1;
                failures.push(format!("{name}:{line}\n  lua: {wanted}\n  got: {printed}"));
            }
        }
        let (wanted, printed) = (wanted.lines().count(), printed.lines().count());
        if wanted != printed {
            failures.push(format!("{}: {printed} lines, Lua prints {wanted}", path.display()));
        }
        count += 1;
    }
    assert!(count >= 13, "only {count} goldens");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
