//! The name under which this server holds deliveries.

use std::{
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
};

use webhook_core::NodeId;

use crate::failure::Failure;

const FILE: &str = "node.id";

/// The file that holds the name, if a server has run with this folder.
pub(crate) fn file(folder: &Path) -> Option<PathBuf> {
    let path = folder.join(FILE);
    path.exists().then_some(path)
}

/// The name in the data folder, made at the first start. With it a server that
/// starts again after a crash goes on at once with what it held, where several
/// servers share a database and the others have to wait for its lease to end.
pub(crate) fn load_or_create(folder: &Path) -> Result<NodeId, Failure> {
    let path = folder.join(FILE);
    let failed = |error| Failure::io(format!("cannot read or make {}", path.display()), error);
    match std::fs::read_to_string(&path) {
        Ok(text) => text
            .trim()
            .parse()
            .map_err(|error| Failure::caused_by(format!("{} is damaged", path.display()), error)),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let node = NodeId::generate();
            // Complete or not there at all, whenever the machine stops.
            let draft = folder.join("node.id.new");
            let mut file = std::fs::File::create(&draft).map_err(failed)?;
            writeln!(file, "{node}").and_then(|()| file.sync_all()).map_err(failed)?;
            std::fs::rename(&draft, &path).map_err(failed)?;
            Ok(node)
        }
        Err(error) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_stays_and_a_damaged_one_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = load_or_create(folder.path()).expect("made");
        assert_eq!(load_or_create(folder.path()).expect("read"), first);
        std::fs::write(folder.path().join("node.id"), "x").expect("written");
        assert!(load_or_create(folder.path()).is_err());
    }
}
