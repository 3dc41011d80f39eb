//! The plain proxy on hyper, a part of the harness.

use super::{Running, Started, Target};
use crate::{Outcome, options::Context, process::Peer, work::sink::Sink};

pub(super) fn start(context: &Context, sink: &Sink) -> Outcome<Started> {
    let mut peer = Peer::start(&context.exe, &["proxy", &sink.address.to_string()])?;
    let address = peer.hear()?;
    Ok(Started::Target(Box::new(Target {
        running: Running::Part(peer),
        address,
        paths: vec!["/0".to_owned()],
        api: None,
        searchers: None,
        schema: None,
        _folder: context.scratch()?,
    })))
}
