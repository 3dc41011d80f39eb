//! From start to exit: listening, connections, and an orderly end.

use std::{future::pending, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use futures_util::future::join_all;
use tokio::{
    net::TcpSocket,
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
    task::JoinError,
    time::{Instant, sleep, timeout_at},
};

use super::{Service, first_start, warnings};
#[cfg(feature = "dashboard")]
use crate::dashboard;
use crate::{
    config::{Config, memory},
    failure::Failure,
    listen::{self, Listener, core_runtimes::CoreRuntimes, edge::Edge, tls::Tls},
    print::print,
    router,
};

/// How many connections wait to be accepted, as the standard library has it for a listener.
const BACKLOG: u32 = 1_024;

/// Takes the address without listening yet: the port is known, and clients are refused.
fn bind(address: SocketAddr) -> std::io::Result<TcpSocket> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // A restarted server takes its port again while old connections end.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

/// Runs the server until SIGTERM or SIGINT.
pub(crate) async fn serve(config: Config) -> Result<(), Failure> {
    let mut signals = Signals::new()?;
    let address = config.listen.listen;
    let cannot_listen = |error| Failure::io(format!("cannot listen on {address}"), error);
    let socket = bind(address).map_err(cannot_listen)?;
    let bound = socket.local_addr().map_err(cannot_listen)?;
    let service = Service::build(&config, bound).await?;
    if let Some(bytes) = memory::limit() {
        let receiving = config.ingest.max_receiving_bytes;
        tracing::info!(bytes, receiving, "memory is limited");
    }
    warnings::of_server(&config).iter().for_each(|warning| tracing::warn!("{warning}"));
    // Only now: a client that connected before would wait for a database that another process
    // has open.
    let socket = socket.listen(BACKLOG).map_err(cannot_listen)?;
    let metrics = listen::bind(config.metrics.metrics_listen, "the metrics").await?;
    #[cfg(feature = "dashboard")]
    let pages = listen::bind(config.dashboard.dashboard_listen, "the dashboard").await?;

    let (tls, refresh) = Tls::open(&config.tls, service.webhooks.ingest())?.unzip();
    let tls = tls.map(Arc::new);
    #[cfg(feature = "dashboard")]
    if let (Some(pages), Some(tls)) = (&service.dashboard, &tls) {
        let certificates = tls.certificates();
        pages.show_certificates(Arc::new(move |domain| certificates.end(domain)));
    }
    // Dropped at the end of this function, after all connections and deliveries.
    let cores = CoreRuntimes::start(!config.listen.core_runtimes)
        .map_err(|error| Failure::io("cannot start the runtimes", error))?;
    // After everything that can fail, because the key is shown once.
    let notice =
        first_start::prepare(service.webhooks.admin(), &service.storage, &config, bound).await?;
    let is_key_shown = notice.is_some();

    let (stop, stopped) = watch::channel(());
    let retention = config.retention.log_retention;
    let admin = Arc::clone(service.webhooks.admin());
    let purging = tokio::spawn(async move { admin.keep_logs_for(retention.0).await });
    let (webhooks, storage) = (service.webhooks.clone(), service.storage);
    let mut relay = tokio::spawn(async move { webhooks.run(until(stopped)).await });
    let refreshing = refresh.map(|refresh| tokio::spawn(refresh.run()).abort_handle());
    tracing::info!(%bound, version = env!("CARGO_PKG_VERSION"), "listening");
    let scheme = config.tls.scheme();
    #[cfg(feature = "dashboard")]
    let notice = {
        let at = pages.as_ref().map_or(bound, |(_, bound)| *bound);
        let first = service.webhooks.admin().accounts().await?.first().map(|account| account.id);
        let first = first.filter(|_| config.listen.dev);
        let made = service.dashboard.as_ref();
        let made = made.map(|it| dashboard::notice(it, &format!("{scheme}://{at}"), first));
        let said = made.transpose()?.unwrap_or_default();
        (notice.is_some() || !said.is_empty()).then(|| said + notice.as_deref().unwrap_or_default())
    };
    let scraped = metrics.as_ref().map(|(_, bound)| *bound);
    let said = announce(scheme, bound, scraped, notice.as_deref());
    if said
        && is_key_shown
        && let Err(failure) = first_start::shown(&storage).await
    {
        tracing::warn!("the key will be shown again: {failure}");
    }

    let edge = |router| Edge::new(service.webhooks.clone(), router, &config, &service.tracer);
    let counts = service.state.metrics();
    let listener = |socket, edge| {
        let (open, unreadable) = (counts.connections.clone(), counts.unreadable.clone());
        Listener::new(socket, edge, tls.clone(), &config, open, unreadable)
    };
    #[cfg(feature = "dashboard")]
    let pages = pages
        .zip(service.dashboard.as_ref())
        .map(|((socket, _), made)| listener(socket, edge(dashboard::alone(made)).only_pages()));
    #[cfg(not(feature = "dashboard"))]
    let pages = None;
    let all = listener(socket, edge(service.router));
    let (close, closed) = watch::channel(());
    let clients = std::iter::once(all).chain(pages);
    let clients = clients.map(|listener| listener.serve_until(&cores, until(closed.clone())));
    let mut clients = pin!(join_all(clients));
    let mut metrics = metrics.map(|(socket, _)| {
        let router = router::scrapes(service.state.clone(), config.metrics.metrics_token.clone());
        Listener::for_metrics(socket, edge(router).only_pages(), &config)
    });
    let scrapes = async {
        match &mut metrics {
            Some(listener) => listener.serve(&cores).await,
            None => pending().await,
        }
    };
    let mut scrapes = pin!(scrapes);
    let (mut outdated, mut delay) = (None, Duration::ZERO);
    tokio::select! {
        _ = &mut clients => {}
        () = &mut scrapes => {}
        signal = signals.next() => {
            delay = config.listen.shutdown_delay;
            tracing::info!(signal, ?delay, "stopping");
        }
        error = storage.outdated() => {
            tracing::warn!(%error, "stopping");
            outdated = Some(error);
        }
        ended = &mut relay => return Err(relay_failure(ended)),
    }
    service.state.stop();
    // A load balancer that asks `/readyz` has time to send new connections elsewhere.
    tokio::select! {
        () = sleep(delay) => {}
        _ = &mut clients => {}
        () = &mut scrapes => {}
        signal = signals.next() => tracing::info!(signal, "the delay ends"),
        ended = &mut relay => return Err(relay_failure(ended)),
    }
    #[cfg(feature = "dashboard")]
    service.dashboard.iter().for_each(webhook_dashboard::Dashboard::close);

    let timeout = config.listen.shutdown_timeout;
    let deadline = Instant::now() + timeout;
    let mut failed = None;
    let orderly = async {
        // The connections end first, while the relay still runs, because some senders wait
        // for an answer that the relay brings. Half of the time is left to the relay.
        drop(close);
        let gone = async { tokio::join!(clients, service.sockets.close()) };
        if timeout_at(deadline - timeout / 2, gone).await.is_err() {
            tracing::warn!("some connections were cut because they did not end in time");
        }
        drop(stop);
        match timeout_at(deadline, relay).await {
            Ok(Ok(Ok(()))) => tracing::info!("stopped"),
            Ok(ended) => failed = Some(relay_failure(ended)),
            Err(_) => tracing::warn!("some deliveries were cut because they did not end in time"),
        }
        if timeout_at(deadline, service.tracer.close()).await.is_err() {
            tracing::warn!("some spans were not sent in time");
        }
        purging.abort();
        if let Some(task) = refreshing {
            task.abort();
        }
        // A disk that is full keeps nothing of what this server should have left behind.
        if let Ok(Err(error)) = timeout_at(deadline, storage.check()).await {
            failed.get_or_insert(Failure::caused_by("the database takes no changes", error));
        }
        storage.close().await;
    };
    tokio::select! {
        () = orderly => {}
        // Programs may ask until the end whether the server is ready.
        () = scrapes => {}
        signal = signals.next() => tracing::warn!(signal, "stopping at once"),
    }
    let outdated = outdated.map(|error| Failure::caused_by("the server had to end", error));
    outdated.or(failed).map_or(Ok(()), Err)
}

fn relay_failure(ended: Result<Result<(), webhook_core::Error>, JoinError>) -> Failure {
    match ended {
        Ok(Ok(())) => Failure::new("the relay ended by itself"),
        Ok(Err(error)) => Failure::caused_by("the relay failed", error),
        Err(error) => Failure::caused_by("the relay failed", error),
    }
}

/// Prints the address that the server listens at as the first line of standard output, for
/// people and for programs that start the server. The result says whether that worked.
fn announce(
    scheme: &str,
    bound: SocketAddr,
    metrics: Option<SocketAddr>,
    notice: Option<&str>,
) -> bool {
    let metrics = metrics.map(|metrics| format!("metrics at http://{metrics}/metrics\n"));
    let text = format!(
        "listening on {scheme}://{bound}\n{}{}",
        metrics.unwrap_or_default(),
        notice.unwrap_or_default(),
    );
    match print(&text) {
        Ok(()) => true,
        Err(failure) => {
            // A closed standard output does not keep the server from serving.
            tracing::warn!("{failure}");
            false
        }
    }
}

async fn until(mut stopped: watch::Receiver<()>) {
    // Nothing is sent: dropping the sender is the signal.
    let _ = stopped.changed().await;
}

/// SIGTERM and SIGINT.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn new() -> Result<Self, Failure> {
        let listen =
            |kind| signal(kind).map_err(|error| Failure::io("cannot listen for signals", error));
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
