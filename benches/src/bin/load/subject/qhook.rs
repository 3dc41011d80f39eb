//! qhook, which stores before it answers, too.

use std::process::{Command, Stdio};

use super::{Running, Started, Target, free_port, is_there, until_listening};
use crate::{Outcome, options::Context, process::Process, work::sink::Sink};

pub(super) fn start(context: &Context, sink: &Sink) -> Outcome<Started> {
    if !is_there("qhook") {
        return Ok(Started::Skipped("qhook is not on the PATH".to_owned()));
    }
    let folder = context.scratch()?;
    let address = free_port()?;
    // More than its defaults: as many deliveries at once as the server has.
    let configuration = format!(
        "database: {{ driver: sqlite, url: 'sqlite:qhook.db?mode=rwc' }}
server: {{ port: {}, max_inbound: 1024, allow_private_urls: true }}
worker: {{ max_concurrency: 128, batch_size: 100 }}
sources: {{ load: {{ type: webhook, skip_verify: true }} }}
handlers: {{ sink: {{ source: load, events: ['*'], url: '{}' }} }}
",
        address.port(),
        sink.url(0)
    );
    std::fs::write(folder.path().join("qhook.yaml"), configuration)?;
    let log = std::fs::File::create(folder.path().join("qhook.log"))?;
    let mut command = Command::new("qhook");
    command.arg("start").current_dir(folder.path()).env("RUST_LOG", "warn");
    let mut process =
        Process::spawn(command.stdout(Stdio::from(log.try_clone()?)).stderr(Stdio::from(log)))?;
    if let Err(error) = until_listening(address, &mut process) {
        let log = std::fs::read_to_string(folder.path().join("qhook.log")).unwrap_or_default();
        return Err(format!("qhook: {error}\n{log}").into());
    }
    Ok(Started::Target(Box::new(Target {
        running: Running::Program(process),
        address,
        paths: vec!["/webhooks/load".to_owned()],
        api: None,
        searchers: None,
        schema: None,
        _folder: folder,
    })))
}
