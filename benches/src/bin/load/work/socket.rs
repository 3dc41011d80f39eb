//! WebSocket clients.

use serde::de::DeserializeOwned;
use serde_json::json;

use super::mib;
use crate::{
    Outcome,
    api::input_path,
    measured::Measured,
    options::Context,
    part::{Said, latency::Latency, sockets::SocketOrder},
    process::Peer,
    seed,
    subject::server::Server,
};

/// Frames per second, of all clients together.
const FRAMES: f64 = 2_000.0;
/// Webhooks per second, when there are few clients.
const MOST_EVENTS: f64 = 200.0;

/// A server with an internal output, and a process for its clients.
fn start(context: &Context, folder: &std::path::Path) -> Outcome<(Server, String, Peer)> {
    let server = Server::start(context, folder, &[])?;
    let (bucket, input) = server.api.bucket("socket")?;
    let output =
        json!({ "name": "agent", "internal": true, "destination": "http://localhost/hook" });
    server.api.output(&bucket, &output)?;
    Ok((server, input_path(&input), Peer::start(&context.exe, &["subscribe"])?))
}

fn done<T: DeserializeOwned>(peer: &mut Peer, order: &SocketOrder) -> Outcome<T> {
    match peer.ask(order)? {
        Said::Done(done) => Ok(done),
        Said::Progress(_) => Err("clients say nothing before the end".into()),
    }
}

/// From a sender to so many clients.
pub(super) fn measure(context: &Context, clients: usize) -> Outcome<Measured> {
    let folder = context.scratch()?;
    let (server, path, mut peer) = start(context, folder.path())?;
    let connect = SocketOrder::Connect { address: server.address, clients };
    done::<usize>(&mut peer, &connect)?;
    let rate = MOST_EVENTS.min(FRAMES / clients as f64);
    let lasts = context.scale.load;
    let send = SocketOrder::Send { path, headers: seed::headers(), rate, lasts };
    let before = server.process.usage()?;
    let latency: Latency = done(&mut peer, &send)?;
    let used = server.process.usage()?.since(before);
    let mut measured = Measured::default();
    measured.latency("frame", &latency);
    measured.value("CPU µs/frame", super::micros_each(used.cpu, latency.count));
    measured.value("resident MiB, most", mib(server.process.most_resident()?));
    Ok(measured)
}

/// Memory of clients that do nothing.
pub(super) fn idle(context: &Context) -> Outcome<Measured> {
    let clients = context.scale.idle_clients;
    let folder = context.scratch()?;
    let (server, _, mut peer) = start(context, folder.path())?;
    // The first one pays for what all of them share.
    let mut connect = |clients| {
        done::<usize>(&mut peer, &SocketOrder::Connect { address: server.address, clients })
    };
    connect(1)?;
    let one = server.process.resident()?;
    connect(clients)?;
    let all = server.process.resident()?;
    let mut measured = Measured::default();
    measured.value("clients", clients as f64);
    measured.value("resident MiB", mib(all));
    let each = all.saturating_sub(one) as f64 / 1024.0 / clients as f64;
    measured.value("KiB/client", each);
    Ok(measured)
}
