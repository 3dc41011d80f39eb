//! The files of others are those that
//! `webhook-server/dashboard/assets/VENDORED.md` says.

use std::{fmt::Write, fs, path::Path};

#[test]
fn vendored_files_are_what_they_are_said_to_be() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let list = fs::read_to_string(folder.join("VENDORED.md")).expect("a list");
    let own = ["VENDORED.md", "style.css", "dashboard.js", "icon.svg"];
    let mut found = 0;
    for entry in fs::read_dir(&folder).expect("the folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("text");
        if own.contains(&name.as_str()) {
            continue;
        }
        let bytes = fs::read(entry.path()).expect("a file");
        let digest = ring::digest::digest(&ring::digest::SHA256, &bytes);
        let mut hex = String::new();
        for byte in digest.as_ref() {
            write!(hex, "{byte:02x}").expect("a string takes everything");
        }
        let line = list.lines().find(|line| line.contains(&format!("`{name}`")));
        let line = line.unwrap_or_else(|| panic!("{name} is not in VENDORED.md"));
        assert!(line.contains(&hex), "{name} is {hex}");
        found += 1;
    }
    assert_eq!(found, 2, "no more and no less");
}
