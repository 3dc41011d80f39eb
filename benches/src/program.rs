//! Which server is measured, and where what it stores goes.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::Outcome;

/// The server that was chosen; without a choice, the one beside this program,
/// built before as this program was built.
pub fn server(chosen: Option<&Path>) -> Outcome<PathBuf> {
    match chosen {
        Some(path) => Ok(path.to_owned()),
        None => build(&beside()?),
    }
}

/// A folder for databases beside the folder of this program: on a disk, where
/// temporary folders often are not.
pub fn scratch(name: &str) -> Outcome<PathBuf> {
    let beside = beside()?;
    let folder = beside.parent().unwrap_or(&beside).join(name);
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn beside() -> Outcome<PathBuf> {
    Ok(std::env::current_exe()?.parent().ok_or("the program is in no folder")?.to_owned())
}

fn build(beside: &Path) -> Outcome<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "-p", "webhook-server"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    if let Some(target) = beside.parent() {
        command.arg("--target-dir").arg(target);
    }
    eprintln!("building the server");
    match command.status()?.success() {
        true => Ok(beside.join("webhook-server")),
        false => Err("the server cannot be built".into()),
    }
}
