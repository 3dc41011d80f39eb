//! The real server, in a process of its own.

use std::{
    fs::File,
    net::SocketAddr,
    path::Path,
    process::{Command, Stdio},
};

use benches::{
    Outcome,
    api::{Api, KEY},
    process::Process,
};

use crate::{namespaces, options::Context};

/// The webhooks that may wait in memory have fewer bytes than one large webhook.
const MEMORY_BUDGET: &str = "1MiB";

/// A running server. It is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) address: SocketAddr,
    pub(crate) api: Api,
}

impl Server {
    /// Starts on a data folder, with these variables beside the usual ones, and
    /// waits until it listens.
    pub(crate) fn start(
        context: &Context,
        folder: &Path,
        log: &Path,
        variables: &[(String, String)],
    ) -> Outcome<Self> {
        let mut command = mortal(&context.server);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("WEBHOOK_LISTEN", "127.0.0.1:0")
            .env("WEBHOOK_DATA_DIR", folder)
            .env("WEBHOOK_ALLOW_PRIVATE_DESTINATIONS", "127.0.0.0/8")
            .env("WEBHOOK_API_KEY", KEY)
            .env("WEBHOOK_MEMORY_BUDGET", MEMORY_BUDGET)
            .envs(variables.iter().chain(&context.set).map(|(name, value)| (name, value)))
            .stdout(Stdio::piped())
            .stderr(File::options().create(true).append(true).open(log)?);
        let mut process = Process::spawn(&mut command)?;
        let address = process.address(context.patience)?;
        Ok(Self { process, address, api: Api(address) })
    }
}

/// The program, killed with this one where the system can.
fn mortal(program: &Path) -> Command {
    let arguments = ["--pdeathsig", "KILL", "--"];
    if namespaces::run(Command::new("setpriv").args(arguments).arg("true")) {
        let mut command = Command::new("setpriv");
        command.args(arguments).arg(program);
        return command;
    }
    Command::new(program)
}
