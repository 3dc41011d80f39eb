//! The file of a manifest's secrets: `NAME=value` on each line, the value as a JSON text where it
//! begins with a quotation mark.

use std::{collections::HashMap, io::Write, path::Path};

use crate::failure::Failure;

pub(super) fn parse(text: &str, path: &Path) -> Result<HashMap<String, String>, Failure> {
    let mut variables = HashMap::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        // What is there is not repeated: it is a secret.
        let wrong = || {
            let place = format!("{}: line {}", path.display(), index + 1);
            Failure::new(format!("{place} is not NAME=value"))
        };
        let (name, value) = line.split_once('=').ok_or_else(wrong)?;
        let value = match value.starts_with('"') {
            true => serde_json::from_str(value).map_err(|_| wrong())?,
            false => value.to_owned(),
        };
        variables.insert(name.trim().to_owned(), value);
    }
    Ok(variables)
}

/// Makes the file, which must not be there: one that is may be open to others.
pub(super) fn write(path: &Path, variables: &[(String, String)]) -> Result<(), Failure> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut text = String::new();
    for (name, value) in variables {
        text.push_str(&format!("{name}={}\n", serde_json::Value::String(value.clone())));
    }
    let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| Failure::io(format!("cannot make {}", path.display()), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("secrets");
        let variables = [("A", "x=y \"z\"\n#"), ("B", ""), ("C", "\"")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        write(&path, &variables).expect("a new file");
        let text = std::fs::read_to_string(&path).expect("it is there");
        assert_eq!(parse(&text, &path).expect("lines"), variables.into_iter().collect());
        assert!(write(&path, &[]).expect_err("it is there").to_string().contains("exists"));
        use std::os::unix::fs::PermissionsExt;
        let mode = path.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn plain_lines_are_read() {
        let read = parse("# mine\n\n A = b c \nD=1=2\n", Path::new("x")).expect("lines");
        assert_eq!((read["A"].as_str(), read["D"].as_str()), (" b c", "1=2"));
        let error = parse("A=1\nsecret", Path::new("x")).expect_err("no name").to_string();
        assert_eq!(error, "x: line 2 is not NAME=value");
    }
}
