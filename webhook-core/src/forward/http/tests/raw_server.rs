//! A destination that shows the bytes it got and answers with the bytes it is told.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

#[derive(Debug)]
pub(super) struct Raw {
    pub(super) address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    received: Arc<Mutex<Vec<Received>>>,
    serving: JoinHandle<()>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Received {
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Received {
    pub(super) fn lines(&self) -> Vec<&str> {
        self.head.trim_end().split("\r\n").collect()
    }
}

/// What the destination does after a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Then {
    KeepOpen,
    Close,
}

impl Raw {
    /// Answers the n-th request in all with `answer(n)`; `None` closes without an answer.
    pub(super) async fn answering(
        answer: impl Fn(usize) -> Option<(Vec<u8>, Then)> + Send + Sync + 'static,
    ) -> Self {
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let answer = Arc::new(answer);
        let records = received.clone();
        let mut server = Self::serving(move |mut stream| {
            let (answer, received) = (answer.clone(), records.clone());
            async move {
                while let Some(request) = read_request(&mut stream).await {
                    let number = {
                        let mut received = received.lock().expect("not poisoned");
                        received.push(request);
                        received.len() - 1
                    };
                    let Some((bytes, then)) = answer(number) else { return };
                    if stream.write_all(&bytes).await.is_err() || matches!(then, Then::Close) {
                        return;
                    }
                }
            }
        })
        .await;
        server.received = received;
        server
    }

    pub(super) async fn always(answer: &'static str) -> Self {
        Self::answering(move |_| Some((answer.into(), Then::KeepOpen))).await
    }

    /// Runs `serve` for each connection.
    pub(super) async fn serving<F>(serve: impl Fn(TcpStream) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let accepted = Arc::new(AtomicUsize::new(0));
        let counter = accepted.clone();
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream));
            }
        });
        Self { address, accepted, received: Arc::default(), serving }
    }

    pub(super) fn url(&self, path_and_query: &str) -> String {
        format!("http://{}{path_and_query}", self.address)
    }

    pub(super) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    pub(super) fn received(&self) -> Vec<Received> {
        self.received.lock().expect("not poisoned").clone()
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).expect("ASCII");
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "))
        .map_or(0, |length| length.parse().expect("a number"));
    let mut body = bytes.split_off(end);
    while body.len() < length {
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    assert_eq!(body.len(), length, "more bytes than Content-Length tells");
    Some(Received { head, body })
}
