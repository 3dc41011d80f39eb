//! A TCP proxy that a test has in its hand: it stops to pass bytes, as a network that is cut
//! does, leads elsewhere, as an address that moves does, and loses what NATS sends.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
    task::JoinHandle,
};

use crate::nats::Lossy;

/// A proxy. It ends, with its connections, when it is dropped.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    state: watch::Sender<State>,
    lossy: Option<Arc<Mutex<Lossy>>>,
    listening: JoinHandle<()>,
}

#[derive(Clone, Copy, Debug)]
struct State {
    /// Where to; connections to elsewhere end.
    to: SocketAddr,
    /// Whether bytes pass. Those that do not are not lost: TCP sends them again.
    passes: bool,
    ended: bool,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.send_modify(|state| state.ended = true);
        self.listening.abort();
    }
}

impl Proxy {
    pub(crate) async fn to(port: u16) -> Self {
        Self::with(port, None).await
    }

    /// One that passes NATS' messages to clients as `lossy` does.
    pub(crate) async fn to_nats(port: u16, lossy: Lossy) -> Self {
        Self::with(port, Some(Arc::new(Mutex::new(lossy)))).await
    }

    async fn with(port: u16, lossy: Option<Arc<Mutex<Lossy>>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let bound = listener.local_addr().expect("an address").port();
        let to = SocketAddr::from(([127, 0, 0, 1], port));
        let state = watch::Sender::new(State { to, passes: true, ended: false });
        let (watched, loses) = (state.subscribe(), lossy.clone());
        let listening = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(connection(client, watched.clone(), loses.clone()));
            }
        });
        Self { port: bound, state, lossy, listening }
    }

    /// Passes nothing any more; connections stay, and new ones are taken and hear nothing.
    pub(crate) fn cut(&self) {
        self.state.send_modify(|state| state.passes = false);
    }

    /// Passes again, with what was held back.
    pub(crate) fn mend(&self) {
        self.state.send_modify(|state| state.passes = true);
    }

    /// How many messages were dropped, and how many doubled.
    pub(crate) fn losses(&self) -> Option<(u32, u32)> {
        let lossy = self.lossy.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        Some((lossy.dropped, lossy.doubled))
    }

    /// Leads elsewhere from now on: connections end.
    pub(crate) fn lead_to(&self, port: u16) {
        self.state.send_modify(|state| state.to.set_port(port));
    }
}

async fn connection(
    client: TcpStream,
    mut state: watch::Receiver<State>,
    lossy: Option<Arc<Mutex<Lossy>>>,
) {
    let Ok(now) = state.wait_for(|state| state.passes).await.map(|state| *state) else { return };
    let Ok(server) = TcpStream::connect(now.to).await else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let ((from_client, to_client), (from_server, to_server)) =
        (client.into_split(), server.into_split());
    let leads_elsewhere = {
        let mut state = state.clone();
        async move {
            let elsewhere = |state: &State| state.ended || state.to != now.to;
            let _ = state.wait_for(elsewhere).await;
        }
    };
    tokio::select! {
        () = pass(from_client, to_server, state.clone(), None) => {}
        () = pass(from_server, to_client, state, lossy) => {}
        () = leads_elsewhere => {}
    }
}

/// Passes one way until it ends.
async fn pass(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut state: watch::Receiver<State>,
    lossy: Option<Arc<Mutex<Lossy>>>,
) {
    let (mut bytes, mut unread) = (vec![0; 64 << 10], Vec::new());
    loop {
        let Ok(count @ 1..) = from.read(&mut bytes).await else { return };
        if state.wait_for(|state| state.passes).await.is_err() {
            return;
        }
        let Some(lossy) = &lossy else {
            if to.write_all(&bytes[..count]).await.is_err() {
                return;
            }
            continue;
        };
        unread.extend_from_slice(&bytes[..count]);
        let (passed, late) = lossy.lock().unwrap_or_else(PoisonError::into_inner).pass(&mut unread);
        if late {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        if to.write_all(&passed).await.is_err() {
            return;
        }
    }
}
