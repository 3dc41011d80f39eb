//! Mounts of the program's own: what it mounts is seen by nobody else, and is
//! gone when the last of its processes is.

use std::{
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, Stdio},
};

use benches::Outcome;

/// Whose mounts the program sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Mounts {
    /// Those of the machine: nothing may be mounted.
    Shared,
    /// Its own, made by root: a file can be mounted as a disk.
    Own,
    /// Its own, made by an ordinary user: memory can be mounted, and no disk.
    Mapped,
}

/// Starts the program once more, with mounts of its own where that is possible;
/// returns only where it is not.
pub(crate) fn enter(server: &Path) -> Outcome<Mounts> {
    for (mounts, said, map) in [(Mounts::Own, "own", false), (Mounts::Mapped, "mapped", true)] {
        if !run(unshare(map).arg("true")) {
            continue;
        }
        let mut again = unshare(map);
        again.arg(std::env::current_exe()?).args(std::env::args_os().skip(1));
        again.args(["--mounts", said]).arg("--server").arg(server);
        return Err(format!("{mounts:?}: {}", again.exec()).into());
    }
    Ok(Mounts::Shared)
}

fn unshare(map: bool) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private"]);
    if map {
        command.arg("--map-root-user");
    }
    command.arg("--");
    command
}

/// Whether a program ends well. What it says is for nobody.
pub(crate) fn run(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// What a program prints; what it complains about when it fails.
pub(crate) fn ask(command: &mut Command) -> Outcome<String> {
    let program = command.get_program().display().to_string();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim()).into())
        }
    }
}
