//! Requests in every number of pieces, and what is not for here.

use std::{convert::Infallible, sync::Mutex};

use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use proptest::prelude::*;
use tokio::io::{DuplexStream, duplex};

use super::*;

/// A request as the service got it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Got {
    method: Method,
    target: String,
    headers: HeaderMap,
    body: Bytes,
}

async fn got(request: Request<Full<Bytes>>) -> Got {
    let (parts, body) = request.into_parts();
    let Ok(body) = body.collect().await;
    let target = parts.uri.to_string();
    Got { method: parts.method, target, headers: parts.headers, body: body.to_bytes() }
}

/// How a conversation went.
struct Told {
    requests: Vec<Got>,
    answers: String,
    served: Result<Served<DuplexStream>, io::Error>,
}

impl Told {
    fn left(self) -> Rewound<DuplexStream> {
        match self.served {
            Ok(Served::Left(stream)) => stream,
            ended => panic!("expected it to be left, not {ended:?}"),
        }
    }

    fn is_ended(&self) -> bool {
        matches!(self.served, Ok(Served::Ended))
    }
}

/// Sends the pieces, then closes, and answers each request by `answer`.
async fn tell(
    pieces: Vec<Vec<u8>>,
    options: &Http1Options,
    answer: impl Fn() -> Response<Full<Bytes>>,
) -> Told {
    let (mut client, server) = duplex(64 * 1024);
    let (_running, ending) = watch::channel(());
    let requests = Mutex::new(Vec::new());
    let wanted = |path: &str| path.starts_with("/w/");
    let service = async |request| {
        let request = got(request).await;
        requests.lock().expect("nobody panics").push(request);
        answer()
    };
    let client = async move {
        for piece in pieces {
            // A connection that has been closed takes no more.
            if client.write_all(&piece).await.is_err() {
                break;
            }
            tokio::task::yield_now().await;
        }
        let _ = client.shutdown().await;
        client
    };
    let (served, mut client) =
        tokio::join!(serve(server, options, ending, wanted, service), client);
    let mut answers = Vec::new();
    let mut chunk = [0; 4096];
    // What is left keeps the connection open: what was written is there already.
    while let Ok(Ok(read @ 1..)) =
        tokio::time::timeout(Duration::from_millis(1), client.read(&mut chunk)).await
    {
        answers.extend_from_slice(&chunk[..read]);
    }
    let requests = requests.into_inner().expect("nobody panics");
    Told { requests, answers: String::from_utf8(answers).expect("text"), served }
}

fn ok() -> Response<Full<Bytes>> {
    Response::new(Full::from("taken"))
}

async fn tell_whole(text: impl AsRef<[u8]>) -> Told {
    tell(vec![text.as_ref().to_vec()], &Http1Options::default(), ok).await
}

fn without_date(answer: &str) -> String {
    answer.split_inclusive("\r\n").filter(|line| !line.starts_with("date: ")).collect()
}

#[tokio::test(start_paused = true)]
async fn a_plain_request_is_answered_and_the_next_one_too() {
    let told = tell_whole(
        "POST /w/1?a=%20b HTTP/1.1\r\nHost: here\r\nX-Twice: 1\r\nx-twice: 2\r\n\
         Content-Length: 4\r\n\r\nbodyGET /w/2 HTTP/1.1\r\nhost: there\r\n\r\n",
    )
    .await;
    assert!(told.is_ended());
    let [first, second] = &told.requests[..] else { panic!("{:?}", told.requests) };
    assert_eq!((&first.method, &*first.target), (&Method::POST, "/w/1?a=%20b"));
    assert_eq!(first.body, "body");
    assert_eq!(first.headers["host"], "here");
    assert_eq!(first.headers.get_all("x-twice").iter().collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!((&second.method, &*second.target), (&Method::GET, "/w/2"));
    assert_eq!(
        second.headers,
        HeaderMap::from_iter([(http::header::HOST, "there".parse().expect("valid"))])
    );
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\ntaken";
    assert_eq!(without_date(&told.answers), answer.repeat(2));
    assert_eq!(told.answers.matches("date: ").count(), 2);
}

#[tokio::test(start_paused = true)]
async fn everything_else_is_left_as_it_came() {
    let many = format!("GET /w/ HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(101));
    let long = format!("GET /w/ HTTP/1.1\r\na: {}\r\n\r\n", "b".repeat(17 * 1024));
    let without_end = format!("GET /w/ HTTP/1.1\r\na: {}", "b".repeat(17 * 1024));
    for other in [
        "POST /w/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /w/ HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /w/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
        "POST /w/ HTTP/1.1\r\nContent-Length: +1\r\n\r\na",
        "POST /w/ HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\na",
        "POST /w/ HTTP/1.1\r\nContent-Length:\r\n\r\na",
        "POST /w/ HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\na",
        "POST /w/ HTTP/1.1\r\nContent-Length: 40000\r\n\r\na",
        "POST /w/ HTTP/1.1\r\nExpect: 100-continue\r\ncontent-length: 1\r\n\r\n",
        "GET /w/ HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        "GET /w/ HTTP/1.1\r\nConnection: close, x-private\r\n\r\n",
        "GET /w/ HTTP/1.0\r\n\r\n",
        "GET http://here/w/ HTTP/1.1\r\n\r\n",
        "GET /elsewhere HTTP/1.1\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\n\r\n",
        "CONNECT /w/ HTTP/1.1\r\n\r\n",
        "CONNECT here:443 HTTP/1.1\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET /w/ HTTP/1.1\r\nno colon\r\n\r\n",
        "GET /w/ HTTP/1.1\r\na : b\r\n\r\n",
        "GET /w/ HTTP/1.1\r\na: b\r\n c\r\n\r\n",
        "G\0T /w/ HTTP/1.1\r\n\r\n",
        "\u{16}\u{3}\u{1}",
        &many,
        &long,
        &without_end,
    ] {
        for before in ["", "GET /w/first HTTP/1.1\r\n\r\n"] {
            let told = tell_whole(format!("{before}{other}")).await;
            assert_eq!(told.requests.len(), usize::from(!before.is_empty()), "{other:?}");
            let mut rest = Vec::new();
            told.left().read_to_end(&mut rest).await.expect("it goes on");
            assert_eq!(String::from_utf8_lossy(&rest), *other);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn limits_are_the_callers() {
    let text = "POST /w/ HTTP/1.1\r\na: 1\r\ncontent-length: 9\r\n\r\n123456789";
    let whole = Http1Options { max_request_bytes: text.len(), ..Http1Options::default() };
    for (options, is_taken) in [
        (whole.clone(), true),
        (Http1Options { max_request_bytes: text.len() - 1, ..whole.clone() }, false),
        (Http1Options { max_headers: 2, ..whole.clone() }, true),
        (Http1Options { max_headers: 1, ..whole.clone() }, false),
        (Http1Options { max_headers: 1_000, ..whole.clone() }, true),
        (Http1Options { max_head_bytes: text.len() - 9, ..whole.clone() }, true),
        (Http1Options { max_head_bytes: text.len() - 10, ..whole.clone() }, false),
    ] {
        let told = tell(vec![text.into()], &options, ok).await;
        assert_eq!(told.requests.len(), usize::from(is_taken), "{options:?}");
        assert_eq!(told.is_ended(), is_taken);
    }
}

#[tokio::test(start_paused = true)]
async fn the_connection_closes_when_the_client_says_so() {
    let told =
        tell_whole("GET /w/ HTTP/1.1\r\nConnection: Close\r\n\r\nGET /w/ HTTP/1.1\r\n\r\n").await;
    assert!(told.is_ended());
    assert_eq!(told.requests.len(), 1);
    assert!(told.answers.contains("connection: close\r\n"), "{}", told.answers);
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_framed_by_what_it_is() {
    let of = |status: u16, method: &str| {
        let text = format!("{method} /w/ HTTP/1.1\r\n\r\n");
        async move {
            let answer = || {
                let mut answer = ok();
                *answer.status_mut() = StatusCode::from_u16(status).expect("a status");
                for name in ["content-length", "transfer-encoding", "connection"] {
                    answer.headers_mut().insert(name, HeaderValue::from_static("77"));
                }
                answer
            };
            let told = tell(vec![text.into()], &Http1Options::default(), answer).await;
            without_date(&told.answers)
        }
    };
    assert_eq!(of(201, "GET").await, "HTTP/1.1 201 Created\r\ncontent-length: 5\r\n\r\ntaken");
    assert_eq!(of(299, "GET").await, "HTTP/1.1 299 \r\ncontent-length: 5\r\n\r\ntaken");
    assert_eq!(of(200, "HEAD").await, "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n");
    assert_eq!(of(204, "GET").await, "HTTP/1.1 204 No Content\r\n\r\n");
    assert_eq!(of(304, "GET").await, "HTTP/1.1 304 Not Modified\r\n\r\n");
    let interim = "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(of(101, "GET").await, interim);
}

#[tokio::test(start_paused = true)]
async fn an_answers_own_date_stays_and_its_body_may_be_long() {
    let long = "0123456789".repeat(2_000);
    let answer = || {
        let mut answer = Response::new(Full::from(long.clone()));
        answer.headers_mut().insert("date", HeaderValue::from_static("then"));
        answer
    };
    let text = b"GET /w/ HTTP/1.1\r\n\r\n".repeat(2);
    let told = tell(vec![text], &Http1Options::default(), answer).await;
    let answer = format!("HTTP/1.1 200 OK\r\ndate: then\r\ncontent-length: 20000\r\n\r\n{long}");
    assert_eq!(told.answers, answer.repeat(2));
}

#[tokio::test]
async fn bodies_in_frames_are_joined() {
    let frames = |parts: &[&'static str]| {
        let parts: Vec<Result<_, Infallible>> =
            parts.iter().map(|part| Ok(Frame::data(Bytes::from(*part)))).collect();
        joined(StreamBody::new(futures_util::stream::iter(parts)))
    };
    assert_eq!(frames(&[]).await.expect("whole"), "");
    assert_eq!(frames(&["", "a"]).await.expect("whole"), "a");
    assert_eq!(frames(&["ab", "", "c", "d"]).await.expect("whole"), "abcd");
    let broken = [Err(io::Error::other("broken"))];
    let broken =
        StreamBody::new(futures_util::stream::iter(broken.map(|it| it.map(Frame::<Bytes>::data))));
    joined(broken).await.expect_err("it broke off");
}

/// A connection whose client sends this and then waits.
async fn after_silence(text: &str) -> (Duration, Served<DuplexStream>, DuplexStream) {
    let (mut client, server) = duplex(1024);
    let (_running, ending) = watch::channel(());
    client.write_all(text.as_bytes()).await.expect("there is room");
    let started = Instant::now();
    let options = Http1Options::default();
    let served = serve(
        server,
        &options,
        ending,
        |_| true,
        async |_| {
            tokio::time::sleep(Duration::from_secs(20)).await;
            ok()
        },
    );
    let served = served.await.expect("nothing breaks");
    (started.elapsed(), served, client)
}

#[tokio::test(start_paused = true)]
async fn silence_ends_a_connection_and_leaves_a_body_that_may_come() {
    for text in ["", "GET /w/ HT"] {
        let (elapsed, served, _client) = after_silence(text).await;
        assert!(matches!(served, Served::Ended), "{text:?}");
        assert_eq!(elapsed.as_secs(), 30);
    }
    let (elapsed, served, _client) = after_silence("GET /w/ HTTP/1.1\r\n\r\n").await;
    assert!(matches!(served, Served::Ended));
    assert_eq!(elapsed.as_secs(), 50, "30 s from when it was answered");
    let text = "PUT /w/ HTTP/1.1\r\ncontent-length: 5\r\n\r\nab";
    let (elapsed, served, client) = after_silence(text).await;
    assert_eq!(elapsed.as_secs(), 30);
    let Served::Left(mut stream) = served else { panic!("the body may come") };
    drop(client);
    let mut rest = String::new();
    stream.read_to_string(&mut rest).await.expect("text");
    assert_eq!(rest, text);
}

#[tokio::test(start_paused = true)]
async fn an_orderly_end_closes_what_is_idle_and_answers_what_has_begun() {
    for (text, requests) in [("", 0), ("GET /w/ HTTP/1.1\r\n\r\n", 1)] {
        let (mut client, server) = duplex(1024);
        let (running, ending) = watch::channel(());
        client.write_all(text.as_bytes()).await.expect("there is room");
        let serving = tokio::spawn(async move {
            let options = Http1Options::default();
            serve(
                server,
                &options,
                ending,
                |_| true,
                async |_| {
                    tokio::time::sleep(Duration::from_secs(2)).await;
                    ok()
                },
            )
            .await
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        let ended = Instant::now();
        drop(running);
        assert!(matches!(serving.await.expect("no panic"), Ok(Served::Ended)));
        assert_eq!(ended.elapsed().as_secs(), requests);
        let mut answers = String::new();
        client.read_to_string(&mut answers).await.expect("text");
        assert_eq!(answers.matches("connection: close\r\n").count() as u64, requests);
    }
    // A request of which a part has come is waited for.
    let (mut client, server) = duplex(1024);
    let (running, ending) = watch::channel(());
    client.write_all(b"GET /w/ HT").await.expect("there is room");
    let serving = tokio::spawn(async move {
        serve(server, &Http1Options::default(), ending, |_| true, async |_| ok()).await
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    drop(running);
    tokio::time::sleep(Duration::from_secs(1)).await;
    client.write_all(b"TP/1.1\r\n\r\n").await.expect("it is open");
    let mut answers = String::new();
    client.read_to_string(&mut answers).await.expect("text");
    assert!(answers.contains("connection: close\r\n"), "{answers}");
    assert!(matches!(serving.await.expect("no panic"), Ok(Served::Ended)));
}

/// Asks for so much that no answer fits, and reads `reads` of it, a byte each 20 s.
async fn unread(reads: usize) -> (Duration, io::Result<Served<WriteTimeout<DuplexStream>>>) {
    let (mut client, server) = duplex(64);
    let (_running, ending) = watch::channel(());
    let options = Http1Options::default();
    let stream = WriteTimeout::new(server, Duration::from_secs(30));
    let started = Instant::now();
    let serving = serve(
        stream,
        &options,
        ending,
        |_| true,
        async |_| Response::new(Full::from("0123456789".repeat(100))),
    );
    let reading = async {
        client.write_all(b"GET /w/ HTTP/1.1\r\n\r\n").await.expect("there is room");
        for _ in 0..reads {
            tokio::time::sleep(Duration::from_secs(20)).await;
            client.read_u8().await.expect("more of the answer");
        }
    };
    let (served, ()) = tokio::join!(serving, reading);
    (started.elapsed(), served)
}

#[tokio::test(start_paused = true)]
async fn who_does_not_read_is_cut_off_and_who_reads_slowly_is_not() {
    for reads in [0, 1, 10] {
        let (elapsed, served) = unread(reads).await;
        let error = served.expect_err("it is cut off");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error}");
        assert_eq!(elapsed.as_secs(), 20 * reads as u64 + 30, "30 s from the last byte");
    }
}

#[tokio::test(start_paused = true)]
async fn the_bound_of_a_head_holds_for_each_request() {
    let long = format!("GET /w/ HTTP/1.1\r\na: {}\r\n\r\n", "b".repeat(17 * 1024));
    let text = format!("{}{long}", "GET /w/ HTTP/1.1\r\n\r\n".repeat(5));
    let told = tell_whole(&text).await;
    assert_eq!(told.requests.len(), 5);
    let mut rest = String::new();
    told.left().read_to_string(&mut rest).await.expect("text");
    assert_eq!(rest, long);
}

#[tokio::test]
async fn what_is_left_can_be_written_to() {
    let (mut client, server) = duplex(16);
    let mut stream = Rewound::new(Bytes::from("read before, "), server);
    client.write_all(b"read after").await.expect("there is room");
    client.shutdown().await.expect("open");
    let mut read = String::new();
    stream.read_to_string(&mut read).await.expect("text");
    assert_eq!(read, "read before, read after");
    stream.write_all(b"answer").await.expect("there is room");
    drop(stream);
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.expect("text");
    assert_eq!(answer, "answer");
}

fn header() -> impl Strategy<Value = (String, String)> {
    // Few names, so that those of one request are sometimes those of the last.
    ("[xX]-[aAbB]|User-Agent|user-agent|content-type|host", "[ -~&&[^ ]]{0,20}")
}

fn request() -> impl Strategy<Value = (Method, String, Vec<(String, String)>, Vec<u8>)> {
    let method = prop_oneof![Just(Method::POST), Just(Method::GET), Just(Method::PUT)];
    let headers = prop::collection::vec(header(), 0..6);
    let body = prop::collection::vec(any::<u8>(), 0..3_000);
    (method, "/w/[a-z0-9%/]{0,20}", headers, body)
}

proptest! {
    #[test]
    fn requests_are_the_same_in_any_pieces(
        requests in prop::collection::vec(request(), 1..4),
        ends in "\r?\n",
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut text = Vec::new();
        let mut expected = Vec::new();
        for (method, target, headers, body) in requests {
            text.extend(format!("{method} {target} HTTP/1.1{ends}").into_bytes());
            let mut map = HeaderMap::new();
            let length = ("Content-Length".to_owned(), body.len().to_string());
            for (name, value) in headers.into_iter().chain([length]) {
                text.extend(format!("{name}: {value}{ends}").into_bytes());
                let name = http::HeaderName::from_bytes(name.as_bytes()).expect("a name");
                map.append(name, HeaderValue::try_from(value).expect("a value"));
            }
            text.extend(ends.bytes());
            text.extend(&body);
            expected.push(Got { method, target, headers: map, body: body.into() });
        }
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(text.len())).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        for cut in cuts.into_iter().rev() {
            pieces.insert(0, text.split_off(cut));
        }
        pieces.insert(0, text);
        pieces.retain(|piece| !piece.is_empty());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let told = runtime.expect("a runtime").block_on(tell(pieces, &Http1Options::default(), ok));
        prop_assert!(told.is_ended());
        prop_assert_eq!(told.answers.matches("200 OK").count(), expected.len());
        prop_assert_eq!(told.requests, expected);
    }

    #[test]
    fn nothing_is_lost_of_what_is_not_understood(
        text in "(GET|POST|X) (/w/|/|\\*|a) HTTP/1\\.[01](\r\n|\n)((Content-Length|Connection|Expect|a): ?(close|keep-alive|[0-9]{1,3}|x)(\r\n|\n)){0,3}(\r\n|\n)?[a-c]{0,9}",
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.expect("a runtime").block_on(async {
            let told = tell_whole(&text).await;
            if told.requests.is_empty() && !told.is_ended() {
                let mut rest = String::new();
                told.left().read_to_string(&mut rest).await.expect("text");
                assert_eq!(rest, text);
            }
        });
    }
}
