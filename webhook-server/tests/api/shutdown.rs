//! The end of a server as its senders see it: the server answers each request that reaches it, and
//! resets no connection.

use std::{
    io::{self, ErrorKind},
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::{sleep, timeout},
};

use super::harness::{PATIENCE, Server, default_input, frames::next_frame, lasting_port};

/// A client that waits for longer than this between an answer and the next request may find the
/// connection closed: the server takes requests for 1 s.
const IN_TIME: Duration = Duration::from_millis(900);

fn address(server: &Server) -> SocketAddr {
    server.base.strip_prefix("http://").and_then(|it| it.parse().ok()).expect("an address")
}

async fn connect(server: &Server) -> TcpStream {
    TcpStream::connect(address(server)).await.expect("a connection")
}

/// Waits until the server has closed its address.
async fn refuses(server: &Server) {
    while TcpStream::connect(address(server)).await.is_ok() {
        sleep(Duration::from_millis(1)).await;
    }
}

fn health() -> String {
    "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n".to_owned()
}

/// Sends a request, and reads the whole answer. The result is the head of the answer.
async fn exchange(stream: &mut TcpStream, request: &str) -> io::Result<String> {
    stream.write_all(request.as_bytes()).await?;
    answer(stream).await
}

/// Reads one answer. The end of the connection before the first byte is an error.
async fn answer(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length = length.and_then(|length| length.parse().ok()).expect("a length");
    stream.read_exact(&mut vec![0; length]).await?;
    Ok(head)
}

fn closes(head: &str) -> bool {
    head.contains("\r\nconnection: close\r\n")
}

async fn is_at_end(stream: &mut TcpStream) -> bool {
    let read = timeout(PATIENCE, stream.read(&mut [0])).await;
    read.expect("the server closes").expect("no reset") == 0
}

/// Sends a webhook as soon as the one before is acknowledged, over one connection as long as the
/// server keeps it. The result is what went wrong.
async fn send(
    address: SocketAddr,
    webhook: String,
    count: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let mut stream = match TcpStream::connect(address).await {
            Ok(stream) => stream,
            // One server has ended, and the next one does not listen yet.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                sleep(Duration::from_millis(5)).await;
                continue;
            }
            Err(error) => {
                wrong.push(format!("connecting: {error}"));
                continue;
            }
        };
        let mut answered = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            let rested = answered.elapsed();
            match exchange(&mut stream, &webhook).await {
                Ok(head) if !head.starts_with("http/1.1 200") => wrong.push(head),
                Ok(head) if closes(&head) => break,
                Ok(_) => {}
                Err(_) if rested > IN_TIME => break,
                Err(error) => {
                    wrong.push(format!("after {rested:?}: {error}"));
                    break;
                }
            }
            count.fetch_add(1, Ordering::Relaxed);
            answered = Instant::now();
        }
    }
    wrong
}

#[tokio::test]
async fn sixty_four_busy_connections_are_not_reset_by_ten_restarts() {
    let listen = format!("127.0.0.1:{}", lasting_port());
    let options = [("WEBHOOK_LISTEN", &*listen), ("WEBHOOK_LOG", "warn")];
    let mut server = Server::start_with(&options).await;
    let bucket = server.bucket("busy").await;
    let input = default_input(&bucket);
    let webhook = format!("POST /v1/webhooks/{input} HTTP/1.1\r\nHost: x\r\n\r\n");
    let (stop, mut senders) = (Arc::new(AtomicBool::new(false)), JoinSet::new());
    let counts: Vec<_> = std::iter::repeat_with(Arc::<AtomicU64>::default).take(64).collect();
    for count in &counts {
        senders.spawn(send(address(&server), webhook.clone(), count.clone(), stop.clone()));
    }
    let busy = async || {
        let before: Vec<_> = counts.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        let since = Instant::now();
        for (count, before) in counts.iter().zip(before) {
            while count.load(Ordering::Relaxed) < before + 5 {
                assert!(since.elapsed() < PATIENCE, "a sender does not go on");
                sleep(Duration::from_millis(1)).await;
            }
        }
    };
    for _ in 0..10 {
        busy().await;
        assert!(server.terminate().await.success());
        server = server.restart().await;
    }
    busy().await;
    stop.store(true, Ordering::Relaxed);
    let wrong = senders.join_all().await.concat();
    let all: u64 = counts.iter().map(|count| count.load(Ordering::Relaxed)).sum();
    assert!(wrong.is_empty(), "{} of {all} requests: {wrong:?}", wrong.len());
}

#[tokio::test]
async fn a_request_on_an_idle_connection_is_answered_and_is_the_last_one() {
    for _ in 0..10 {
        let mut server = Server::start().await;
        let mut stream = connect(&server).await;
        assert!(!closes(&exchange(&mut stream, &health()).await.expect("an answer")));
        let asked = Instant::now();
        server.signal("TERM").await;
        refuses(&server).await;
        let answered = exchange(&mut stream, &health()).await;
        if asked.elapsed() > IN_TIME {
            continue; // This machine was too busy to tell.
        }
        let head = answered.expect("an answer");
        assert!(head.starts_with("http/1.1 200") && closes(&head), "{head}");
        assert!(is_at_end(&mut stream).await);
        // With the last connection the wait is over.
        assert!(server.ended().await.success());
        return;
    }
    panic!("this machine is too busy for a request within a second");
}

#[tokio::test]
async fn what_waits_in_the_kernel_at_the_end_is_answered() {
    let mut server = Server::start().await;
    let mut kept = connect(&server).await;
    exchange(&mut kept, &health()).await.expect("an answer");
    server.freeze().await;
    let mut streams = vec![kept];
    for _ in 0..20 {
        streams.push(connect(&server).await);
    }
    for stream in &mut streams {
        stream.write_all(health().as_bytes()).await.expect("it is sent");
    }
    server.signal("TERM").await;
    server.signal("CONT").await;
    for mut stream in streams {
        let head = answer(&mut stream).await.expect("an answer");
        assert!(head.starts_with("http/1.1 200"), "{head}");
        assert!(is_at_end(&mut stream).await);
    }
    assert!(server.ended().await.success());
}

#[tokio::test]
async fn a_connection_without_a_place_at_the_end_gets_one() {
    for _ in 0..10 {
        let mut server = Server::start_with(&[("WEBHOOK_MAX_CONNECTIONS", "1")]).await;
        let bucket = server.bucket("b").await;
        let input = default_input(&bucket);
        let endless = format!(
            "{}POST /v1/webhooks/{input} HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n",
            health()
        );
        let mut first = connect(&server).await;
        exchange(&mut first, &endless).await.expect("an answer to the first of them");
        let mut second = connect(&server).await;
        second.write_all(health().as_bytes()).await.expect("it is sent");
        let asked = Instant::now();
        server.signal("TERM").await;
        refuses(&server).await;
        drop(first);
        let answered = answer(&mut second).await;
        if asked.elapsed() > IN_TIME {
            continue; // This machine was too busy to tell.
        }
        let head = answered.expect("an answer");
        assert!(head.starts_with("http/1.1 200") && closes(&head), "{head}");
        assert!(server.ended().await.success());
        return;
    }
    panic!("this machine is too busy for a request within a second");
}

#[tokio::test]
async fn for_the_delay_the_server_is_not_ready_and_accepts() {
    let mut server = Server::start_with(&[("WEBHOOK_SHUTDOWN_DELAY", "10m")]).await;
    let bucket = server.bucket("b").await;
    let path = format!("/v1/webhooks/{}", default_input(&bucket));
    server.signal("TERM").await;
    let since = Instant::now();
    loop {
        let answer = server.anonymous("GET", "/readyz").send().await;
        if answer.status == 503 {
            assert_eq!(answer.text(), "shutting down");
            break;
        }
        assert!(since.elapsed() < PATIENCE, "it is ready");
        sleep(Duration::from_millis(1)).await;
    }
    let mut stream = connect(&server).await;
    let webhook = format!("POST {path} HTTP/1.1\r\nHost: x\r\n\r\n");
    let head = exchange(&mut stream, &webhook).await.expect("an answer");
    assert!(head.starts_with("http/1.1 200") && !closes(&head), "{head}");
    drop(stream);
    // Another signal ends the delay, and nothing else.
    assert!(server.terminate().await.success());
    assert!(server.log().contains("stopped"), "{}", server.log());

    let mut server = server.restart_with(&[("WEBHOOK_SHUTDOWN_DELAY", "300ms")]).await;
    let asked = Instant::now();
    assert!(server.terminate().await.success());
    assert!(asked.elapsed() >= Duration::from_millis(300));
    let refused = server.command(&["check", "--shutdown-delay", "11m"]).await;
    let said = String::from_utf8_lossy(&refused.stdout).into_owned();
    assert!(said.contains("WEBHOOK_SHUTDOWN_DELAY: must be at most 10m"), "{said}");
}

/// Sends a frame of HTTP/2 (RFC 9113 section 4.1).
async fn write_frame(stream: &mut TcpStream, kind: u8, flags: u8, number: u32, payload: &[u8]) {
    let length = u8::try_from(payload.len()).expect("a short one");
    let mut frame = vec![0, 0, length, kind, flags];
    frame.extend(number.to_be_bytes());
    frame.extend(payload);
    stream.write_all(&frame).await.expect("it is sent");
}

/// Reads frames until one is of this kind; the stream that it is of, and its payload.
async fn frame_of(stream: &mut TcpStream, kind: u8) -> (u32, Vec<u8>) {
    loop {
        let (head, payload) = next_frame(stream).await;
        // The flag of an answer to a PING, which is not meant.
        if head[3] == kind && !(kind == PING && head[4] & 1 != 0) {
            return (u32::from_be_bytes([head[5], head[6], head[7], head[8]]), payload);
        }
    }
}

const HEADERS: u8 = 1;
const PING: u8 = 6;
const GOAWAY: u8 = 7;

#[tokio::test]
async fn over_http2_the_server_says_goaway_and_answers_what_comes_meanwhile() {
    let mut server = Server::start().await;
    let mut stream = connect(&server).await;
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.expect("it is sent");
    write_frame(&mut stream, 4, 0, 0, &[]).await;
    // GET, http, and the path and the authority as literals (RFC 7541).
    let request = b"\x82\x86\x04\x08/healthz\x01\x01x";
    write_frame(&mut stream, HEADERS, 5, 1, request).await;
    assert_eq!(frame_of(&mut stream, HEADERS).await.0, 1);
    server.signal("TERM").await;
    let (_, payload) = frame_of(&mut stream, GOAWAY).await;
    assert_eq!(payload[..8], [0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0], "any stream, and no error");
    // The client learns only with the next GOAWAY which request is the last one.
    write_frame(&mut stream, HEADERS, 5, 3, request).await;
    let (_, ping) = frame_of(&mut stream, PING).await;
    write_frame(&mut stream, PING, 1, 0, &ping).await;
    let answered = async {
        let mut answered = (false, false);
        while answered != (true, true) {
            let (head, payload) = next_frame(&mut stream).await;
            match head[3] {
                HEADERS => answered.0 = head[8] == 3,
                GOAWAY => answered.1 = payload[..8] == [0, 0, 0, 3, 0, 0, 0, 0],
                _ => {}
            }
        }
    };
    timeout(PATIENCE, answered).await.expect("the request is answered, and the last one is named");
    assert!(server.ended().await.success());
}
