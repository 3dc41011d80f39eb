//! A destination on HTTP/2 that does not process every request, frame by frame: the servers of
//! libraries count a stream as processed as soon as it arrives.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_rustls::server::TlsStream;

use super::tls_server::{acceptor, self_signed};

const PREFACE: usize = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len();
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
/// Of an answer: its headers are whole, and it has no body. Of settings and pings: an answer.
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const ACK: u8 = 1;
/// `:status: 200` in the static table of HPACK.
const STATUS_200: &[u8] = &[0x88];

/// Processes a number of requests of each connection, and says with GOAWAY that it processed no
/// other. Its certificate is signed by itself.
#[derive(Debug)]
pub(crate) struct GoingAway {
    pub(crate) address: SocketAddr,
    pub(crate) certificate_pem: String,
    processed: Arc<Mutex<Vec<Bytes>>>,
    unprocessed: Arc<AtomicUsize>,
    serving: JoinHandle<()>,
}

impl GoingAway {
    pub(crate) async fn after(requests: usize) -> Self {
        let identity = self_signed(&["127.0.0.1"]);
        let certificate_pem = identity.cert.pem();
        let acceptor = acceptor(identity.into(), &["h2"]);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let (processed, unprocessed) =
            (Arc::<Mutex<Vec<Bytes>>>::default(), Arc::<AtomicUsize>::default());
        let (bodies, refused) = (processed.clone(), unprocessed.clone());
        let serving = tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                let (acceptor, bodies, refused) =
                    (acceptor.clone(), bodies.clone(), refused.clone());
                tokio::spawn(async move {
                    let Ok(tls) = acceptor.accept(tcp).await else { return };
                    let connection = Served { tls, left: requests, bodies, refused };
                    // It ends when the other side closes it.
                    let _ = connection.run().await;
                });
            }
        });
        Self { address, certificate_pem, processed, unprocessed, serving }
    }

    pub(crate) fn url(&self) -> String {
        format!("https://{}/", self.address)
    }

    /// The bodies of the requests that it processed.
    pub(crate) fn processed(&self) -> Vec<Bytes> {
        self.processed.lock().expect("not poisoned").clone()
    }

    /// How many requests came that it did not process.
    pub(crate) fn unprocessed(&self) -> usize {
        self.unprocessed.load(Ordering::SeqCst)
    }
}

impl Drop for GoingAway {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// One of its connections.
struct Served {
    tls: TlsStream<TcpStream>,
    /// How many requests it still processes.
    left: usize,
    bodies: Arc<Mutex<Vec<Bytes>>>,
    refused: Arc<AtomicUsize>,
}

impl Served {
    async fn run(mut self) -> std::io::Result<()> {
        self.tls.read_exact(&mut [0; PREFACE]).await?;
        self.write(SETTINGS, 0, 0, &[]).await?;
        loop {
            let mut head = [0; 9];
            self.tls.read_exact(&mut head).await?;
            let [a, b, c, kind, flags, stream @ ..] = head;
            let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
            self.tls.read_exact(&mut payload).await?;
            match kind {
                SETTINGS if flags & ACK == 0 => self.write(SETTINGS, ACK, 0, &[]).await?,
                PING if flags & ACK == 0 => self.write(PING, ACK, 0, &payload).await?,
                // The bodies of these tests fit into one frame.
                DATA if flags & END_STREAM != 0 && self.left == 0 => {
                    self.refused.fetch_add(1, Ordering::SeqCst);
                }
                DATA if flags & END_STREAM != 0 => {
                    self.answer(u32::from_be_bytes(stream), payload.into()).await?;
                }
                _ => {}
            }
        }
    }

    async fn answer(&mut self, stream: u32, body: Bytes) -> std::io::Result<()> {
        self.bodies.lock().expect("not poisoned").push(body);
        self.left -= 1;
        self.write(HEADERS, END_HEADERS | END_STREAM, stream, STATUS_200).await?;
        if self.left == 0 {
            let no_error = [0; 4];
            let last = [stream.to_be_bytes(), no_error].concat();
            self.write(GOAWAY, 0, 0, &last).await?;
        }
        Ok(())
    }

    async fn write(
        &mut self,
        kind: u8,
        flags: u8,
        stream: u32,
        payload: &[u8],
    ) -> std::io::Result<()> {
        let length = u32::try_from(payload.len()).expect("short").to_be_bytes();
        let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
        self.tls.write_all(&[&head, payload].concat()).await?;
        self.tls.flush().await
    }
}
