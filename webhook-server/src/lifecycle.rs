//! From start to exit: listening, connections, and an orderly end.

use std::{
    future::Future,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
};
use tokio::{
    net::{TcpListener, TcpStream},
    signal::unix::{Signal, SignalKind, signal},
    sync::{Semaphore, watch},
    time::{Instant, timeout, timeout_at},
};

use crate::{
    config::{Config, ListenConfig},
    failure::Failure,
    first_start,
    front::Front,
    service,
};

/// How long accepting rests when the machine is out of sockets.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Runs the server until SIGTERM or SIGINT.
pub(crate) async fn serve(config: Config) -> Result<(), Failure> {
    let mut signals = Signals::new()?;
    let address = config.listen.listen;
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| Failure::io(format!("cannot listen on {address}"), error))?;
    let bound =
        listener.local_addr().map_err(|error| Failure::io("cannot read the address", error))?;

    let service = service::build(&config).await?;
    let notice = first_start::prepare(&service.admin, &config, bound).await?;
    let front = Front::new(service.relay.ingest(), service.router, is_https(&config.listen));

    let (stop, stopped) = watch::channel(());
    let relay = service.relay.clone();
    let mut relay = tokio::spawn(async move { relay.run(until(stopped)).await });
    println!("listening on http://{bound}");
    if let Some(notice) = notice {
        println!("{notice}");
    }
    tracing::info!(%bound, version = env!("CARGO_PKG_VERSION"), "listening");

    let connections = Connections::new(&config.listen, front, service.state.clone());
    let graceful = GracefulShutdown::new();
    let ended = tokio::select! {
        () = connections.accept(listener, &graceful) => Ok(()),
        signal = signals.next() => {
            tracing::info!(signal, "stopping");
            Ok(())
        }
        ended = &mut relay => Err(ended),
    };
    if let Err(ended) = ended {
        return Err(match ended {
            Ok(Ok(())) => Failure::new("the relay ended"),
            Ok(Err(error)) => Failure::caused_by("the relay failed", error),
            Err(error) => Failure::caused_by("the relay failed", error),
        });
    }

    let deadline = Instant::now() + config.listen.shutdown_timeout;
    service.state.stop();
    let orderly = async {
        // Webhooks that are being received come before the relay's end, so
        // that what they leave to deliver is still taken up or released.
        if timeout_at(deadline, graceful.shutdown()).await.is_err() {
            tracing::warn!("connections were cut at the shutdown timeout");
        }
        drop(stop);
        match timeout_at(deadline, relay).await {
            Ok(Ok(Ok(()))) => tracing::info!("stopped"),
            Ok(Ok(Err(error))) => {
                tracing::error!(error = &error as &dyn std::error::Error, "the relay failed");
            }
            Ok(Err(error)) => tracing::error!(%error, "the relay failed"),
            Err(_) => tracing::warn!("deliveries were cut at the shutdown timeout"),
        }
    };
    tokio::select! {
        () = orderly => {}
        signal = signals.next() => tracing::warn!(signal, "stopping at once"),
    }
    Ok(())
}

async fn until(mut stopped: watch::Receiver<()>) {
    // The sender never sends: it is dropped.
    let _ = stopped.changed().await;
}

/// Whether senders use TLS up to somebody before this server.
fn is_https(config: &ListenConfig) -> bool {
    config.public_url.as_deref().is_some_and(|url| url.starts_with("https://"))
}

/// SIGTERM and SIGINT.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> Result<Self, Failure> {
        let listen = |kind| {
            signal(kind).map_err(|error| Failure::io("cannot listen for signals", error))
        };
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
