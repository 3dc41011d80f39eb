//! A NATS server of the test's own, and messages that get lost on their way from it.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use tokio::{
    net::TcpStream,
    process::{Child, Command},
};

use crate::harness;

/// A NATS server. It is killed when it is dropped.
pub(crate) struct Nats {
    pub(crate) port: u16,
    _child: Child,
}

impl Nats {
    /// None, and a line that says so, where there is no program `nats-server`.
    pub(crate) async fn start() -> Option<Self> {
        let port = harness::lasting_port();
        let mut command = Command::new("nats-server");
        command.args(["-a", "127.0.0.1", "-p", &port.to_string()]);
        let child = match command.stderr(Stdio::null()).kill_on_drop(true).spawn() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                println!("skipped: there is no nats-server on this machine");
                return None;
            }
            child => child.expect("it starts"),
        };
        let since = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            assert!(since.elapsed() < harness::PATIENCE, "it does not listen");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Some(Self { port, _child: child })
    }
}

/// Passes on what a NATS server sends to its client, but for one message in ten, and another one
/// in ten two times; after another one the connection stands still for a moment.
pub(crate) struct Lossy {
    random: fastrand::Rng,
    pub(crate) dropped: u32,
    pub(crate) doubled: u32,
}

impl Lossy {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: fastrand::Rng::with_seed(seed), dropped: 0, doubled: 0 }
    }

    /// Takes the whole frames from `unread`; what of them passes, and whether late.
    pub(crate) fn pass(&mut self, unread: &mut Vec<u8>) -> (Vec<u8>, bool) {
        let (mut passed, mut late, mut taken) = (Vec::new(), false, 0);
        while let Some((length, is_message)) = frame(&unread[taken..]) {
            let bytes = &unread[taken..taken + length];
            taken += length;
            match self.random.u8(..10) {
                0 if is_message => self.dropped += 1,
                1 if is_message => {
                    self.doubled += 1;
                    passed.extend_from_slice(bytes);
                    passed.extend_from_slice(bytes);
                }
                number => {
                    late |= is_message && number == 2;
                    passed.extend_from_slice(bytes);
                }
            }
        }
        unread.drain(..taken);
        (passed, late)
    }
}

/// How long the first frame is, if it is whole, and whether it is a message.
fn frame(bytes: &[u8]) -> Option<(usize, bool)> {
    let line = bytes.windows(2).position(|two| two == b"\r\n")?;
    let text = str::from_utf8(&bytes[..line]).expect("NATS' frames begin with text");
    let is_message = text.starts_with("MSG ") || text.starts_with("HMSG ");
    if !is_message {
        return Some((line + 2, false));
    }
    let size = text.rsplit(' ').next().and_then(|size| size.parse::<usize>().ok());
    let whole = line + 2 + size.expect("a message has a size") + 2;
    (bytes.len() >= whole).then_some((whole, true))
}

#[test]
fn frames_are_told_apart_and_passed_whole() {
    let stream = b"INFO {}\r\nPING\r\nMSG a.b 1 5\r\na\r\nbc\r\nHMSG a 1 r 12 14\r\nNATS/1.0\r\n\r\nab\r\n+O";
    let (mut rest, mut kinds) = (&stream[..], Vec::new());
    while let Some((length, is_message)) = frame(rest) {
        kinds.push((length, is_message));
        rest = &rest[length..];
    }
    assert_eq!((rest, kinds.len()), (&b"+O"[..], 4));
    assert_eq!(kinds.iter().filter(|(_, is_message)| *is_message).count(), 2);
    let (mut lossy, mut sent, mut came) = (Lossy::new(7), 0, 0);
    for _ in 0..1_000 {
        let mut unread = b"PONG\r\nMSG a 1 1\r\nx\r\n".to_vec();
        let (passed, _) = lossy.pass(&mut unread);
        assert!(unread.is_empty() && passed.starts_with(b"PONG\r\n"));
        sent += 1;
        came += passed.windows(4).filter(|four| *four == b"MSG ").count() as u32;
    }
    assert_eq!(came, sent - lossy.dropped + lossy.doubled);
    assert!((50..200).contains(&lossy.dropped) && (50..200).contains(&lossy.doubled));
}
