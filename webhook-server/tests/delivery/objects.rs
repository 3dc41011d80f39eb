//! Large bodies in a bucket of PyPI's `moto`, a stand-in for S3 that is not ours and compares
//! signatures: when `TEST_S3` names a Python that has it (`.ci/s3` installs one).

use std::{
    process::{Output, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    process::{Child, Command},
    time::timeout,
};

use super::*;
use crate::{
    harness::{Client, PATIENCE},
    sink::Reply,
};

/// What a user of IAM may do with the bucket.
const POLICY: &str =
    r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}"#;

/// Shows the objects of the bucket, with another client's eyes.
const LIST: &str = "
import boto3, hashlib, sys
s3 = boto3.client('s3', endpoint_url=sys.argv[1], region_name='eu-central-1',
                  aws_access_key_id=sys.argv[2], aws_secret_access_key=sys.argv[3])
for found in s3.list_objects_v2(Bucket='large').get('Contents', []):
    body = s3.get_object(Bucket='large', Key=found['Key'])['Body'].read()
    print(found['Key'], len(body), hashlib.sha256(body).hexdigest())
";

/// A bucket `large`, and a way to it that can be cut.
struct Bucket {
    python: String,
    base: String,
    access_key: String,
    secret_key: String,
    /// Where the server finds it.
    through: String,
    is_cut: Arc<AtomicBool>,
    _child: Child,
}

impl Bucket {
    #[allow(
        clippy::disallowed_methods,
        reason = "what a test needs from outside comes in variables"
    )]
    async fn start() -> Option<Self> {
        let Ok(python) = std::env::var("TEST_S3") else {
            println!("skipped: TEST_S3 is not set");
            return None;
        };
        let port = harness::lasting_port();
        let child = Command::new(&python)
            .args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()])
            // The bucket, the user, its key and its policy; then signatures are compared.
            .env("INITIAL_NO_AUTH_ACTION_COUNT", "4")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("moto starts");
        let listening = async {
            while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        timeout(PATIENCE, listening).await.expect("moto listens in time");
        let base = format!("http://127.0.0.1:{port}");
        let client = Client::default();
        client.request("PUT", &format!("{base}/large")).send().await.expect(200);
        let iam = async |action: &str, more: &str| {
            let form = format!("Action={action}&Version=2010-05-08&UserName=relay{more}");
            let of_iam = "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/iam/aws4_request, \
                SignedHeaders=host, Signature=x";
            let request = client.request("POST", &base).header("authorization", of_iam);
            let form_type = "application/x-www-form-urlencoded";
            request.header("content-type", form_type).body(form).send().await.expect(200).text()
        };
        iam("CreateUser", "").await;
        let key = iam("CreateAccessKey", "").await;
        let policy: String = url::form_urlencoded::byte_serialize(POLICY.as_bytes()).collect();
        iam("PutUserPolicy", &format!("&PolicyName=all&PolicyDocument={policy}")).await;
        let part = |name: &str| {
            let (_, rest) = key.split_once(&format!("<{name}>")).expect(name);
            rest.split('<').next().unwrap_or_default().to_owned()
        };
        let is_cut = Arc::new(AtomicBool::new(false));
        let through = way_to(port, Arc::clone(&is_cut)).await;
        let (access_key, secret_key) = (part("AccessKeyId"), part("SecretAccessKey"));
        Some(Self { python, base, access_key, secret_key, through, is_cut, _child: child })
    }

    fn options(&self) -> [(&str, &str); 5] {
        [
            ("WEBHOOK_OBJECTS_URL", &self.through),
            ("WEBHOOK_OBJECTS_REGION", "eu-central-1"),
            ("WEBHOOK_OBJECTS_ACCESS_KEY_ID", &self.access_key),
            ("WEBHOOK_OBJECTS_SECRET_ACCESS_KEY", &self.secret_key),
            ("WEBHOOK_OBJECTS_MIN_BYTES", "64KiB"),
        ]
    }

    /// Lines of key, length and SHA-256.
    async fn objects(&self) -> Vec<String> {
        let arguments = ["-c", LIST, &self.base, &self.access_key, &self.secret_key];
        let listed = Command::new(&self.python).args(arguments).output().await.expect("it runs");
        assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
        String::from_utf8_lossy(&listed.stdout).lines().map(str::to_owned).collect()
    }
}

/// Passes connections on, until it is cut: then they end at once.
async fn way_to(port: u16, is_cut: Arc<AtomicBool>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async move {
        while let Ok((mut from, _)) = listener.accept().await {
            let is_cut = Arc::clone(&is_cut);
            tokio::spawn(async move {
                let until_cut = async {
                    while !is_cut.load(Ordering::Relaxed) {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                };
                let passing = async {
                    if let Ok(mut to) = TcpStream::connect(("127.0.0.1", port)).await {
                        drop(copy_bidirectional(&mut from, &mut to).await);
                    }
                };
                tokio::select! {
                    biased;
                    () = until_cut => {}
                    () = passing => {}
                }
            });
        }
    });
    format!("http://{address}/large/of-a-test")
}

fn large(seed: u8) -> Vec<u8> {
    let mut state = u32::from(seed) + 1;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    std::iter::repeat_with(next).take(1 << 20).collect()
}

fn sha256(bytes: &[u8]) -> String {
    let sum = ring::digest::digest(&ring::digest::SHA256, bytes);
    sum.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn a_large_body_is_in_the_bucket_and_survives_kill_9() {
    let Some(bucket) = Bucket::start().await else { return };
    // The first attempt has no answer before the server is killed.
    let sink = Sink::scripted(|number| match number {
        0 => Reply::Hang(Duration::from_secs(60)),
        _ => Reply::Status(200),
    })
    .await;
    let mut server = Server::start_with(&bucket.options()).await;
    assert!(bucket.objects().await.is_empty(), "what the start has put is gone");
    let events = server.bucket("events").await;
    server.output(&events, json!({ "name": "sink", "destination": sink.base })).await;
    let path = input_path(&events);

    let body = large(1);
    server.anonymous("POST", &path).body(body.clone()).send().await.expect(200);
    let objects = bucket.objects().await;
    let [object] = &objects[..] else { panic!("{objects:?}") };
    assert!(object.starts_with("of-a-test/webhooks/"), "{object}");
    assert!(object.ends_with(&format!(" {} {}", body.len(), sha256(&body))), "{object}");
    assert!(sink.received(1).await[0].body == body, "the first attempt has another body");
    server.kill().await;

    let server = server.restart().await;
    assert!(sink.received(2).await[1].body == body, "another body arrived");
    let logs = server.get("/v1/logs").await.expect(200).json();
    let shown = logs["data"][0]["body"].as_str().expect("a body");
    assert!(STANDARD.decode(shown).expect("base64") == body, "another body is shown");

    // While the bucket is away, what needs it is refused, and nothing else.
    bucket.is_cut.store(true, Ordering::Relaxed);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let refused = server.anonymous("POST", &path).body(large(2)).send().await;
    let refused = refused.expect_error(503, "the object storage is not available");
    assert!(!refused.header("retry-after").is_empty());
    server.anonymous("POST", &path).body("small").send().await.expect(200);
    server.get("/v1/logs").await.expect_error(503, "the object storage is not available");
    bucket.is_cut.store(false, Ordering::Relaxed);
    server.anonymous("POST", &path).body(large(3)).send().await.expect(200);
    assert_eq!(sink.received(4).await.len(), 4);
    assert_eq!(bucket.objects().await.len(), 2, "of what was refused nothing is kept");
    let secret = &bucket.secret_key;
    assert!(!server.log().contains(secret.as_str()), "the secret is in the log");
}

#[tokio::test]
async fn a_bucket_that_refuses_ends_the_start_with_one_line() {
    let Some(bucket) = Bucket::start().await else { return };
    let start = async |further: (&str, &str)| -> Output {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = harness::command(folder.path());
        command.env("WEBHOOK_LOG", "error").envs(bucket.options()).env(further.0, further.1);
        timeout(PATIENCE, command.kill_on_drop(true).output())
            .await
            .expect("it ends in time")
            .expect("it starts")
    };
    let elsewhere = bucket.through.replace("/large/", "/missing/");
    for (option, value, said) in [
        ("WEBHOOK_OBJECTS_SECRET_ACCESS_KEY", "wr0ng", "403"),
        ("WEBHOOK_OBJECTS_URL", &*elsewhere, "NoSuchBucket"),
        ("WEBHOOK_OBJECTS_URL", "http://127.0.0.1:1/large", "WEBHOOK_OBJECTS_URL"),
        ("WEBHOOK_OBJECTS_URL", "ftp://x/large", "http"),
        ("WEBHOOK_OBJECTS_ACCESS_KEY_ID", "", "WEBHOOK_OBJECTS_ACCESS_KEY_ID"),
    ] {
        let ended = start((option, value)).await;
        assert!(!ended.status.success(), "{option}={value}");
        let text = String::from_utf8_lossy(&ended.stderr);
        assert!(text.contains("WEBHOOK_OBJECTS_") || text.contains("--objects-url"), "{text}");
        assert!(text.contains(said), "{said}: {text}");
        assert!(!text.contains("wr0ng") && !text.contains(&bucket.secret_key), "{text}");
    }
}
