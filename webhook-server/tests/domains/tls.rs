//! TLS that the server ends itself.

use std::{path::Path, process::Stdio, sync::Arc};

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::{
    ClientConfig, ClientConnection, ProtocolVersion, RootCertStore, SupportedProtocolVersion,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
    version::{TLS12, TLS13},
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Command,
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use tokio_tungstenite::{client_async, tungstenite::Message};

use super::*;
use crate::sink::Sink;

/// The server's own names.
const OWN: &str = "relay.example.com";
const BOTH: &[&SupportedProtocolVersion] = &[&TLS13, &TLS12];

type Made = CertifiedKey<KeyPair>;

fn made(names: &[&str]) -> Made {
    let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
    generate_simple_self_signed(names).expect("a certificate")
}

fn own() -> Made {
    made(&[OWN, "127.0.0.1"])
}

/// Puts a file in the place of the former one.
fn write(path: &Path, text: &str) {
    let new = path.with_extension("new");
    std::fs::write(&new, text).expect("the file can be written");
    std::fs::rename(new, path).expect("the file can be renamed");
}

/// A server with TLS, and the files of its certificates.
struct Secure {
    server: Server,
    own: Made,
    files: TempDir,
}

impl Secure {
    async fn start() -> Self {
        Self::start_with(&[]).await
    }

    async fn start_with(options: &[(&str, &str)]) -> Self {
        let files = TempDir::new().expect("a temporary folder");
        let own = own();
        let path = |name: &str| files.path().join(name).display().to_string();
        let (crt, key, folder) = (path("own.crt"), path("own.key"), path("domains"));
        std::fs::create_dir(&folder).expect("a folder");
        write(Path::new(&crt), &own.cert.pem());
        write(Path::new(&key), &own.signing_key.serialize_pem());
        let mut all = vec![
            ("WEBHOOK_TLS_CERT", &*crt),
            ("WEBHOOK_TLS_KEY", &*key),
            ("WEBHOOK_TLS_DOMAINS_DIR", &*folder),
            // Nothing is looked at unless a test asks for it.
            ("WEBHOOK_TLS_RELOAD_INTERVAL", "1h"),
        ];
        all.extend_from_slice(options);
        let server = Server::start_with(&all).await;
        assert!(server.base.starts_with("https://127.0.0.1:"), "{}", server.base);
        Self { server, own, files }
    }

    /// A certificate for the name, in the folder for domains.
    fn domain(&self, name: &str) -> Made {
        let made = made(&[name]);
        let folder = self.files.path().join("domains");
        write(&folder.join(format!("{name}.key")), &made.signing_key.serialize_pem());
        write(&folder.join(format!("{name}.crt")), &made.cert.pem());
        made
    }

    async fn shake(&self, client: &Client, name: &str) -> std::io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(name.to_owned()).expect("a name");
        let shaking = client.0.connect(name, connect(&self.server).await);
        timeout(PATIENCE, shaking).await.expect("an outcome in time")
    }

    /// Shakes hands, asks for `path` at `host`, and reads the answer.
    async fn ask(&self, client: &Client, name: &str, head: &str, body: &str) -> Raw {
        raw(self.shake(client, name).await.expect("a handshake"), head, body).await
    }

    /// Calls an operation of the API.
    async fn api(&self, method: &str, path: &str, body: Value) -> Value {
        let key = &self.server.key;
        let head =
            format!("{method} {path} HTTP/1.1\r\nHost: {OWN}\r\nAuthorization: Bearer {key}");
        let client = Client::trusting(&self.own, BOTH, &[]);
        let answer = self.ask(&client, OWN, &head, &body.to_string()).await;
        assert!(answer.status < 300, "{answer:?}");
        serde_json::from_str(&answer.body).expect("JSON")
    }

    /// Sends SIGHUP and waits until the log says so.
    async fn look_again(&self, said: &str) {
        self.server.signal("HUP").await;
        let waiting = async {
            while !self.server.log().contains(said) {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        };
        timeout(PATIENCE, waiting).await.expect("the certificates are looked at");
    }
}

/// Trusts one certificate only.
struct Client(TlsConnector);

impl Client {
    fn trusting(
        made: &Made,
        versions: &[&'static SupportedProtocolVersion],
        alpn: &[&str],
    ) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).expect("a root");
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions)
            .expect("versions");
        let mut config = config.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        Self(TlsConnector::from(Arc::new(config)))
    }
}

fn shown(stream: &TlsStream<TcpStream>) -> CertificateDer<'static> {
    let chain = stream.get_ref().1.peer_certificates().expect("a certificate is shown");
    chain.first().expect("it has one").clone().into_owned()
}

#[tokio::test]
async fn http_1_and_2_are_spoken_over_tls_1_2_and_1_3() {
    let secure = Secure::start().await;
    for (version, spoken) in
        [(&TLS12, ProtocolVersion::TLSv1_2), (&TLS13, ProtocolVersion::TLSv1_3)]
    {
        for (alpn, chosen) in [
            (&["h2", "http/1.1"][..], Some(&b"h2"[..])),
            (&["http/1.1"], Some(b"http/1.1")),
            (&[], None),
        ] {
            let client = Client::trusting(&secure.own, &[version], alpn);
            let stream = secure.shake(&client, OWN).await.expect("a handshake");
            assert_eq!(stream.get_ref().1.protocol_version(), Some(spoken));
            assert_eq!(stream.get_ref().1.alpn_protocol(), chosen);
            if chosen == Some(b"h2") {
                let io = TokioIo::new(stream);
                let (mut sender, connection) =
                    hyper::client::conn::http2::handshake(TokioExecutor::new(), io)
                        .await
                        .expect("h2");
                let driver = tokio::spawn(connection);
                let request = Request::get(format!("https://{OWN}/healthz"));
                let request = request.body(Full::<Bytes>::default()).expect("a request");
                let answer = sender.send_request(request).await.expect("an answer");
                assert_eq!(answer.status(), 200);
                assert_eq!(answer.into_body().collect().await.expect("a body").to_bytes(), "ok");
                driver.abort();
            } else {
                let head = format!("GET /healthz HTTP/1.1\r\nHost: {OWN}");
                assert_eq!(raw(stream, &head, "").await.body, "ok");
            }
        }
    }
}

#[tokio::test]
async fn a_refusal_is_seen_by_who_sends_all_before_reading() {
    let secure = Secure::start_with(&[("WEBHOOK_LINGER_TIMEOUT", "30s")]).await;
    let client = Client::trusting(&secure.own, BOTH, &["http/1.1"]);
    let head = format!("POST /v1/buckets HTTP/1.1\r\nHost: {OWN}\r\nAuthorization: Bearer ");
    let answer =
        secure.ask(&client, OWN, &(head + &secure.server.key), &"x".repeat(20 << 20)).await;
    assert_eq!(answer.status, 413, "{answer:?}");
    assert!(answer.body.contains("at most"), "{answer:?}");
}

#[tokio::test]
async fn each_name_is_shown_its_certificate() {
    let secure = Secure::start().await;
    let domain = secure.domain(DOMAIN);
    secure.look_again("the domain's certificate was loaded").await;
    for (made, names) in
        [(&secure.own, &[OWN, "127.0.0.1"][..]), (&domain, &[DOMAIN, "SHOP.example.com"])]
    {
        let client = Client::trusting(made, BOTH, &[]);
        for name in names {
            let stream = secure.shake(&client, name).await.expect("a handshake");
            assert_eq!(shown(&stream), *made.cert.der(), "{name}");
        }
    }
    // A name without a certificate is shown the server's own, which is not for it.
    let client = Client::trusting(&secure.own, BOTH, &[]);
    assert!(secure.shake(&client, "other.example.com").await.is_err());

    secure.api("POST", "/v1/domains", json!({"domain": DOMAIN})).await;
    let bucket = secure.api("POST", "/v1/buckets", json!({"name": "b"})).await;
    let inputs = format!("/v1/buckets/{}/inputs", id(&bucket));
    secure.api("POST", &inputs, json!({"custom_domain": DOMAIN, "body": "shop"})).await;
    let client = Client::trusting(&domain, BOTH, &[]);
    let head = format!("POST /x HTTP/1.1\r\nHost: {DOMAIN}");
    assert_eq!(secure.ask(&client, DOMAIN, &head, "x").await.body, "shop");
}

#[tokio::test]
async fn certificates_are_renewed_without_a_restart() {
    let secure = Secure::start().await;
    let path = |name: &str| secure.files.path().join(name);
    let client = Client::trusting(&secure.own, BOTH, &[]);
    write(&path("own.crt"), "broken");
    secure.look_again("the server's former certificate stays in use").await;
    secure.shake(&client, OWN).await.expect("the former certificate");

    let open = secure.shake(&client, OWN).await.expect("the former certificate");
    let renewed = own();
    write(&path("own.crt"), &renewed.cert.pem());
    write(&path("own.key"), &renewed.signing_key.serialize_pem());
    secure.look_again("the server's certificate was loaded again").await;
    assert!(secure.shake(&client, OWN).await.is_err());
    let new_client = Client::trusting(&renewed, BOTH, &[]);
    secure.shake(&new_client, OWN).await.expect("the renewed certificate");
    // A connection that was open stays so.
    let head = format!("GET /healthz HTTP/1.1\r\nHost: {OWN}");
    assert_eq!(raw(open, &head, "").await.body, "ok");
}

#[tokio::test]
async fn the_files_are_looked_at_from_time_to_time() {
    let secure = Secure::start_with(&[("WEBHOOK_TLS_RELOAD_INTERVAL", "20ms")]).await;
    let domain = secure.domain(DOMAIN);
    let client = Client::trusting(&domain, BOTH, &[]);
    let waiting = async { while secure.shake(&client, DOMAIN).await.is_err() {} };
    timeout(PATIENCE, waiting).await.expect("the new certificate is used");
}

#[tokio::test]
async fn an_input_can_ask_for_tls_1_3() {
    let secure = Secure::start().await;
    let domain = secure.domain(DOMAIN);
    secure.look_again("the domain's certificate was loaded").await;
    secure.api("POST", "/v1/domains", json!({"domain": DOMAIN})).await;
    let bucket = secure.api("POST", "/v1/buckets", json!({"name": "b"})).await;
    let inputs = format!("/v1/buckets/{}/inputs", id(&bucket));
    let spec = json!({"custom_domain": DOMAIN, "body": "shop"});
    let input = secure.api("POST", &inputs, spec.clone()).await;
    let (old, new) =
        (Client::trusting(&domain, &[&TLS12], &[]), Client::trusting(&domain, &[&TLS13], &[]));
    let head = format!("POST /x HTTP/1.1\r\nHost: {DOMAIN}");
    for client in [&old, &new] {
        assert_eq!(secure.ask(client, DOMAIN, &head, "x").await.body, "shop");
    }
    let mut strict = spec;
    strict["tls_version"] = json!("1.3");
    secure.api("PUT", &format!("{inputs}/{}", id(&input)), strict).await;
    assert!(secure.shake(&old, DOMAIN).await.is_err());
    assert_eq!(secure.ask(&new, DOMAIN, &head, "x").await.body, "shop");
    // Nor by asking for another name first.
    let elsewhere = Client::trusting(&secure.own, &[&TLS12], &[]);
    let answer = secure.ask(&elsewhere, OWN, &head, "x").await;
    assert_eq!((answer.status, &*answer.body), (421, "this domain is reached over TLS 1.3 only"));
    let elsewhere = Client::trusting(&secure.own, &[&TLS13], &[]);
    assert_eq!(secure.ask(&elsewhere, OWN, &head, "x").await.body, "shop");
}

#[tokio::test]
async fn webhooks_over_tls_say_so() {
    let secure = Secure::start().await;
    let sink = Sink::start().await;
    let bucket = secure.api("POST", "/v1/buckets", json!({"name": "b"})).await;
    let outputs = format!("/v1/buckets/{}/outputs", id(&bucket));
    secure.api("POST", &outputs, json!({"destination": sink.base})).await;
    let input = bucket["inputs"][0]["id"].as_str().expect("an id");
    let client = Client::trusting(&secure.own, BOTH, &[]);
    let head = format!("POST /v1/webhooks/{input} HTTP/1.1\r\nHost: {OWN}");
    assert_eq!(secure.ask(&client, OWN, &head, "x").await.status, 200);
    let arrived = sink.received(1).await.remove(0).head.headers;
    assert_eq!(arrived["x-forwarded-proto"], "https");
    assert_eq!(arrived["x-forwarded-for"], "127.0.0.1");
}

#[tokio::test]
async fn the_websocket_is_reached_over_tls() {
    let secure = Secure::start().await;
    let bucket = secure.api("POST", "/v1/buckets", json!({"name": "b"})).await;
    let client = Client::trusting(&secure.own, BOTH, &["http/1.1"]);
    let stream = secure.shake(&client, OWN).await.expect("a handshake");
    let url = format!("wss://{OWN}/v1/socket");
    let (mut socket, _) = client_async(url, stream).await.expect("a socket");
    let key = &secure.server.key;
    for (frame, status) in [
        (json!({"action": "auth", "key": "whr", "secret": key}), "authenticated"),
        (json!({"action": "subscribe", "buckets": ["b"]}), "subscribed"),
    ] {
        socket.send(Message::text(frame.to_string())).await.expect("it is sent");
        let said = timeout(PATIENCE, socket.next()).await.expect("in time").expect("open");
        let said = said.expect("a frame").into_text().expect("text");
        assert!(said.contains(status), "{said}");
    }
    let input = bucket["inputs"][0]["id"].as_str().expect("an id");
    let head = format!("POST /v1/webhooks/{input} HTTP/1.1\r\nHost: {OWN}");
    assert_eq!(secure.ask(&client, OWN, &head, "over tls").await.status, 200);
    let frame = timeout(PATIENCE, socket.next()).await.expect("in time").expect("open");
    let frame: Value =
        serde_json::from_str(&frame.expect("a frame").into_text().expect("text")).expect("JSON");
    assert_eq!((&frame["type"], &frame["body"]), (&json!("webhook"), &json!("over tls")));
}

#[tokio::test]
async fn the_agent_connects_over_tls() {
    let secure = Secure::start().await;
    let sink = Sink::start().await;
    let mut agent = Command::new(env!("CARGO_BIN_EXE_webhook-server"))
        .args(["forward", "--bucket", "laptop", &sink.base])
        .env_clear()
        .env("WEBHOOK_SERVER_URL", &secure.server.base)
        .env("WEBHOOK_API_KEY", &secure.server.key)
        .env("SSL_CERT_FILE", secure.files.path().join("own.crt"))
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the agent starts");
    let mut lines = BufReader::new(agent.stdout.take().expect("it is piped")).lines();
    let line = timeout(PATIENCE, lines.next_line()).await.expect("a line in time");
    let line = line.expect("text").expect("the agent runs");
    let (public_url, _) = line.split_once(" -> ").expect("where to send to");
    let path = public_url.strip_prefix(&secure.server.base).expect("the server's address");
    let client = Client::trusting(&secure.own, BOTH, &[]);
    let head = format!("POST {path} HTTP/1.1\r\nHost: {OWN}");
    assert_eq!(secure.ask(&client, OWN, &head, "hello").await.status, 200);
    assert_eq!(sink.received(1).await.remove(0).body, "hello");
}

#[tokio::test]
async fn who_does_not_speak_tls_gets_nothing() {
    let secure = Secure::start_with(&[("WEBHOOK_TLS_HANDSHAKE_TIMEOUT", "100ms")]).await;
    let head = format!("GET /healthz HTTP/1.1\r\nHost: {OWN}");
    let plain = raw(connect(&secure.server).await, &head, "").await;
    assert!(!plain.head.contains("HTTP/1.1 200"), "{plain:?}");
    for said in [&b""[..], b"\x16", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"] {
        let mut stream = connect(&secure.server).await;
        stream.write_all(said).await.expect("it is sent");
        // Ends when the server closes, which it does after the timeout.
        let mut answer = Vec::new();
        let closed = timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
        let _ = closed.expect("the server closes");
    }
    let client = Client::trusting(&secure.own, BOTH, &[]);
    assert_eq!(secure.ask(&client, OWN, &head, "").await.body, "ok");
}

/// A client that says hello and then nothing more.
async fn stalled(secure: &Secure) -> TcpStream {
    let client = Client::trusting(&secure.own, BOTH, &[]);
    let name = ServerName::try_from(OWN).expect("a name");
    let mut hello = Vec::new();
    let mut connection =
        ClientConnection::new(Arc::clone(client.0.config()), name).expect("a client");
    connection.write_tls(&mut hello).expect("it can be written");
    let mut stream = connect(&secure.server).await;
    stream.write_all(&hello).await.expect("it is sent");
    // The server's answer has begun: the handshake has its place.
    stream.readable().await.expect("an answer");
    stream
}

#[tokio::test]
async fn handshakes_at_once_have_a_limit() {
    let secure = Secure::start_with(&[("WEBHOOK_MAX_TLS_HANDSHAKES", "1")]).await;
    let first = stalled(&secure).await;
    let client = Client::trusting(&secure.own, BOTH, &[]);
    let second = secure.shake(&client, OWN);
    tokio::pin!(second);
    let waiting = timeout(std::time::Duration::from_millis(200), &mut second).await;
    assert!(waiting.is_err(), "the second is shaken beside the first");
    drop(first);
    second.await.expect("there is a place now");
}

#[tokio::test]
async fn a_handshake_does_not_hold_up_the_end() {
    let mut secure = Secure::start_with(&[("WEBHOOK_TLS_HANDSHAKE_TIMEOUT", "1h")]).await;
    let stalled = stalled(&secure).await;
    assert_eq!(secure.server.terminate().await.code(), Some(0));
    assert!(!secure.server.log().contains("were cut"), "{}", secure.server.log());
    drop(stalled);
}

#[tokio::test]
async fn without_a_usable_certificate_the_server_does_not_start() {
    let files = TempDir::new().expect("a temporary folder");
    let path = |name: &str| files.path().join(name).display().to_string();
    let (crt, key) = (path("own.crt"), path("own.key"));
    let start = async |arguments: &[&str]| {
        let data = path("data");
        let mut command = harness::command(Path::new(&data));
        let output = timeout(PATIENCE, command.args(arguments).output()).await;
        let output = output.expect("it ends in time").expect("it starts");
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let both = ["--tls-cert", &*crt, "--tls-key", &*key];
    assert!(start(&both).await.contains("cannot read"));
    write(Path::new(&crt), &own().cert.pem());
    write(Path::new(&key), &own().signing_key.serialize_pem());
    assert!(start(&both).await.contains("cannot use the TLS certificate"));
    for (alone, said) in [
        (&["--tls-cert", &*crt], "WEBHOOK_TLS_KEY"),
        (&["--tls-key", &*key], "WEBHOOK_TLS_CERT"),
        (&["--tls-domains-dir", "/tmp"], "WEBHOOK_TLS_CERT"),
    ] {
        assert!(start(alone).await.contains(said), "{alone:?}");
    }
}
