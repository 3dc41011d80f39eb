//! The relay in memory, a part of the harness.

use super::{Running, Started, Target};
use crate::{Outcome, options::Context, process::Peer, work::sink::Sink};

pub(super) fn start(context: &Context, sink: &Sink) -> Outcome<Started> {
    let mut peer = Peer::start_with(
        &context.exe,
        &["embedded", &sink.address.to_string()],
        context.variables,
    )?;
    let (address, path) = peer.hear()?;
    Ok(Started::Target(Box::new(Target {
        running: Running::Part(peer),
        address,
        paths: vec![path],
        api: None,
        searchers: None,
        schema: None,
        _folder: context.scratch()?,
    })))
}
