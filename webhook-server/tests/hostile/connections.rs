//! Clients that mean harm with their connections: they do not read, they take
//! every slot, they say more than they may.
//!
//! ```text
//! cargo test -p webhook-server --test hostile connections -- --nocapture
//! ```

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    task::JoinSet,
    time::timeout,
};

use crate::harness::{PATIENCE, Server, frames::next_frame, id};

/// What the connections that read nothing may make the server's memory grow by.
const HELD_KIB: u64 = 200 << 10;
/// The largest things that anybody may ask for.
const LARGE: [&str; 2] = ["/openapi.json", "/docs/swagger-ui-bundle.js"];

/// Connects with room for little that is not read.
async fn connect(server: &Server) -> TcpStream {
    let address = server.base.trim_start_matches("http://").parse().expect("an address");
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("its size is set");
    socket.connect(address).await.expect("the server listens")
}

async fn read_all(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut answer = Vec::new();
    let read = timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
    read.expect("the server closes").expect("the connection is not reset");
    String::from_utf8_lossy(&answer).into_owned()
}

/// Whether the server closes, or cuts, a connection that nobody reads.
async fn is_cut(stream: &mut (impl AsyncRead + Unpin)) -> bool {
    let mut chunk = vec![0; 64 << 10];
    let end = async { while matches!(stream.read(&mut chunk).await, Ok(1..)) {} };
    timeout(PATIENCE, end).await.is_ok()
}

/// A frame of HTTP/2 (RFC 9113 section 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short one").to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// Opens streams for [`LARGE`] things with a window of nothing, and waits until
/// each of them has its head or is refused. Says how many have a head.
async fn open_streams(stream: &mut TcpStream, count: u32) -> u32 {
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    // SETTINGS_INITIAL_WINDOW_SIZE is nothing.
    bytes.extend(frame(4, 0, 0, &[0, 4, 0, 0, 0, 0]));
    for number in 0..count {
        let path = LARGE[number as usize % LARGE.len()];
        // GET, http, and the path and the authority as literals (RFC 7541).
        let mut head = vec![0x82, 0x86, 0x04, u8::try_from(path.len()).expect("a short one")];
        head.extend(path.bytes());
        head.extend([0x01, 1, b'x']);
        bytes.extend(frame(1, 0x5, 2 * number + 1, &head));
    }
    stream.write_all(&bytes).await.expect("it is sent");
    let (mut heads, mut refused) = (0, 0);
    while heads + refused < count {
        let (head, payload) = next_frame(stream).await;
        match head[3] {
            0 => panic!("{} bytes of an answer that has no window", payload.len()),
            1 => heads += 1,
            3 => refused += 1,
            _ => {}
        }
    }
    heads
}

#[tokio::test]
async fn streams_that_nobody_reads_share_what_they_ask_for() {
    const CONNECTIONS: u64 = 40;
    let server = Server::start_with(&[("WEBHOOK_LOG", "warn")]).await;
    for path in LARGE {
        server.anonymous("GET", path).send().await.expect(200);
    }
    let before = server.resident_kib();
    let mut opening = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let mut stream = connect(&server).await;
        opening.spawn(async move { (open_streams(&mut stream, 100).await, stream) });
    }
    let opened = timeout(PATIENCE, opening.join_all()).await.expect("all are answered in time");
    let held: u32 = opened.iter().map(|(heads, _)| heads).sum();
    assert!(held >= 32 * 40, "only {held}");
    let grown = server.resident_kib().saturating_sub(before);
    println!("{CONNECTIONS} connections, {held} answers that nobody reads: {grown} KiB");
    assert!(grown < HELD_KIB, "{grown} KiB");
    server.get("/v1/buckets").await.expect(200);
}

#[tokio::test]
async fn who_does_not_read_is_cut_off_and_others_are_served() {
    let options = [
        ("WEBHOOK_MAX_CONNECTIONS", "12"),
        ("WEBHOOK_WRITE_TIMEOUT", "3s"),
        ("WEBHOOK_LOG", "warn"),
    ];
    let server = Server::start_with(&options).await;
    let bucket = server.bucket("b").await;
    let path = format!("/v1/buckets/{}/inputs", id(&bucket));
    let spec = json!({"body": "0123456789".repeat(3_000)});
    let input = server.request("POST", &path).json(&spec).send().await.expect(201).json();
    let webhook = format!("GET /v1/webhooks/{} HTTP/1.1\r\nHost: x\r\n\r\n", id(&input));
    let page = format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", LARGE[1]);
    let mut cut = JoinSet::new();
    // The harness keeps a connection of its own, which makes room when it is idle.
    for number in 0..12 {
        let mut stream = connect(&server).await;
        let asked = [&webhook, &page].get(number % 3).map(|request| request.repeat(100));
        cut.spawn(async move {
            let Some(requests) = asked else {
                open_streams(&mut stream, 4).await;
                return is_cut(&mut stream).await;
            };
            let (mut read, mut write) = stream.into_split();
            let writing =
                tokio::spawn(
                    async move { while write.write_all(requests.as_bytes()).await.is_ok() {} },
                );
            // Until it is cut nothing is read.
            let is_over = timeout(PATIENCE, writing).await.is_ok();
            is_over && is_cut(&mut read).await
        });
    }
    let cut = timeout(PATIENCE, cut.join_all()).await.expect("all of them end");
    assert_eq!(cut, [true; 12]);
    server.get("/v1/buckets").await.expect(200);
}

#[tokio::test]
async fn idle_connections_make_room_the_oldest_first() {
    let server = Server::start_with(&[("WEBHOOK_MAX_CONNECTIONS", "3")]).await;
    let health = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    let ask = async |stream: &mut TcpStream| {
        stream.write_all(health).await.expect("it is sent");
        let mut answer = [0; 12];
        timeout(PATIENCE, stream.read_exact(&mut answer)).await.expect("in time").expect("more");
        assert_eq!(&answer, b"HTTP/1.1 200");
        // The rest ends with this body.
        while stream.read_u8().await.expect("more") != b'\n' {}
        let mut rest = Vec::new();
        while !rest.ends_with(b"\r\n\r\nok") {
            rest.push(stream.read_u8().await.expect("more"));
        }
    };
    let mut streams = Vec::new();
    for _ in 0..3 {
        let mut stream = connect(&server).await;
        ask(&mut stream).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        streams.push(stream);
    }
    // The second one has been idle for longest.
    ask(&mut streams[0]).await;
    let started = Instant::now();
    let mut fourth = connect(&server).await;
    ask(&mut fourth).await;
    assert!(started.elapsed() < Duration::from_secs(20), "long before the timeout of 30 s");
    assert_eq!(read_all(&mut streams[1]).await, "");
    ask(&mut streams[0]).await;
    ask(&mut streams[2]).await;
}

#[tokio::test]
async fn an_address_has_so_many_connections() {
    let options = [("WEBHOOK_MAX_CONNECTIONS_PER_ADDRESS", "5")];
    let mut server = Server::start_with(&options).await;
    let mut open = Vec::new();
    for _ in 0..5 {
        open.push(connect(&server).await);
    }
    let started = Instant::now();
    let mut refused = connect(&server).await;
    assert_eq!(read_all(&mut refused).await, "");
    assert!(started.elapsed() < Duration::from_secs(20), "long before the timeout of 30 s");
    drop(open);
    assert!(server.terminate().await.success());
    let server = server.restart_with(&[("WEBHOOK_TRUSTED_PROXIES", "127.0.0.1")]).await;
    let mut proxied = Vec::new();
    for _ in 0..10 {
        proxied.push(connect(&server).await);
    }
    let last = proxied.last_mut().expect("ten");
    let request = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    last.write_all(request).await.expect("it is sent");
    assert!(read_all(last).await.starts_with("HTTP/1.1 200"));
}

/// Sends more than may be sent, all of it, and only then reads.
pub(crate) async fn send_then_read<S>(mut stream: S, head: &str, bytes: usize) -> String
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let head = format!("{head}\r\nHost: x\r\nContent-Length: {bytes}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.expect("it is sent");
    let chunk = vec![b'a'; 64 << 10];
    let mut left = bytes;
    while left > 0 {
        let now = left.min(chunk.len());
        stream.write_all(&chunk[..now]).await.expect("the server reads on");
        left -= now;
    }
    read_all(&mut stream).await
}

#[tokio::test]
async fn a_refusal_is_seen_by_who_reads_it_at_the_end() {
    let options = [("WEBHOOK_MAX_LINGER_BYTES", "40MiB"), ("WEBHOOK_LINGER_TIMEOUT", "30s")];
    let server = Server::start_with(&options).await;
    let bucket = server.bucket("b").await;
    let webhook = format!("POST /v1/webhooks/{} HTTP/1.1", id(&bucket["inputs"][0]));
    let operation = format!("POST /v1/buckets HTTP/1.1\r\nAuthorization: Bearer {}", server.key);
    for (head, status) in [
        (&*webhook, "413"),
        (&*operation, "413"),
        ("POST /v1/buckets HTTP/1.1", "401"),
        ("POST /elsewhere HTTP/1.1", "404"),
    ] {
        let answer = send_then_read(connect(&server).await, head, 20 << 20).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{head}: {answer}");
        assert!(!answer.ends_with("\r\n\r\n"), "{head}: without its body: {answer}");
    }
}

#[tokio::test]
async fn who_sends_on_is_cut_in_the_end() {
    let options = [("WEBHOOK_MAX_LINGER_BYTES", "1MiB"), ("WEBHOOK_LINGER_TIMEOUT", "1s")];
    let server = Server::start_with(&options).await;
    let head =
        format!("POST /elsewhere HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", 1 << 30);
    for chunk in [vec![b'a'; 64 << 10], Vec::new()] {
        let mut stream = connect(&server).await;
        stream.write_all(head.as_bytes()).await.expect("it is sent");
        let sending = async {
            // For nothing sent the time ends it, for much the bytes.
            while !chunk.is_empty() && stream.write_all(&chunk).await.is_ok() {}
        };
        timeout(PATIENCE, sending).await.expect("the server does not read for ever");
        assert!(is_cut(&mut stream).await);
    }
}

#[tokio::test]
async fn headers_are_bounded_in_each_request_of_a_connection() {
    let server = Server::start().await;
    let request = |bytes: usize| {
        let line = format!("x-{}: {}\r\n", bytes, "v".repeat(bytes / 20));
        format!("GET /healthz HTTP/1.1\r\nHost: x\r\n{}\r\n", line.repeat(20))
    };
    // How the second request comes decides how much of it is read at once.
    for (first, second, at_once) in [(13, 75, 88), (13, 125, 138), (20, 75, 57), (20, 90, 52)] {
        let mut stream = connect(&server).await;
        let both = request(first << 10) + &request(second << 10);
        let (now, later) = both.split_at((at_once << 10).min(both.len()));
        stream.write_all(now.as_bytes()).await.expect("it is sent");
        if !later.is_empty() {
            tokio::time::sleep(Duration::from_millis(200)).await;
            stream.write_all(later.as_bytes()).await.expect("it is sent");
        }
        let answers = read_all(&mut stream).await;
        assert!(answers.starts_with("HTTP/1.1 200 "), "{first}, {second}: {answers}");
        assert!(answers.contains("\r\n\r\nokHTTP/1.1 431 "), "{first}, {second}: {answers}");
    }
}

#[tokio::test]
async fn connect_is_no_webhook() {
    let server = Server::start().await;
    let bucket = server.bucket("b").await;
    let webhook = format!("/v1/webhooks/{}", id(&bucket["inputs"][0]));
    for target in [&*webhook, "example.com:443", "127.0.0.1:80"] {
        let mut stream = connect(&server).await;
        let request = format!("CONNECT {target} HTTP/1.1\r\nHost: x\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("it is sent");
        let answer = read_all(&mut stream).await;
        let is_refused = ["HTTP/1.1 405 ", "HTTP/1.1 400 "].iter().any(|it| answer.starts_with(it));
        assert!(is_refused, "{target}: {answer}");
    }
    let logs = server.get(&format!("/v1/logs?bucket_id={}", id(&bucket))).await.expect(200).json();
    assert_eq!(logs["data"].as_array().map_or(0, Vec::len), 0, "{logs}");
}

#[tokio::test]
async fn connections_without_a_descriptor_are_summed_up_in_the_log() {
    let server = Server::start_after("ulimit -n 128").await;
    let mut open = Vec::new();
    for _ in 0..200 {
        open.push(connect(&server).await);
    }
    let said = || -> Vec<u64> {
        let log = server.log();
        let lines = log.lines().filter(|line| line.contains("cannot accept connections"));
        let count =
            |line: &str| line.split_once("count=")?.1.split_whitespace().next()?.parse().ok();
        lines.map(|line| count(line).expect("a number")).collect()
    };
    let since = Instant::now();
    while said().len() < 2 {
        assert!(since.elapsed() < PATIENCE, "{:?}", said());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // The first line comes immediately, and a line for all others 5 s later.
    let said = said();
    assert!(said.len() == 2 && said[0] == 1 && said[1] >= 10, "{said:?}");
    drop(open);
    server.get("/v1/buckets").await.expect(200);
}

#[tokio::test]
async fn a_request_that_is_no_http_gets_the_reason_and_is_counted() {
    let server = Server::start().await;
    let answer = async |request: String| {
        let mut stream = connect(&server).await;
        stream.write_all(request.as_bytes()).await.expect("it is sent");
        read_all(&mut stream).await
    };
    let target = |target: &str| format!("POST {target} HTTP/1.1\r\nHost: x\r\n\r\n");
    let mut unreadable = 0;
    for path in ["/v1/webhooks/a?b=\"", "/v1/webhooks/a?b=<c>", "/v1/webhooks/a>", "/v1/webhooks/`"]
    {
        let said = answer(target(path)).await;
        assert!(said.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{said}");
        assert!(said.ends_with("and check the names and values of its headers\n"), "{said}");
        unreadable += 1;
    }
    let said = answer("GET / HTTP/1.1\r\nbad name: x\r\n\r\n".to_owned()).await;
    assert!(said.contains("the request cannot be read as HTTP/1.1"), "{said}");
    let said = answer(format!("GET / HTTP/1.1\r\na: {}\r\n\r\n", "x".repeat(999_999))).await;
    assert!(said.starts_with("HTTP/1.1 431") && said.contains("the head of the request"), "{said}");
    unreadable += 2;
    let metrics = server.get("/metrics").await.expect(200).text();
    let line = format!("webhook_unreadable_requests_total {unreadable}\n");
    assert!(metrics.contains(&line), "{metrics}");
}
