//! The process that receives: it notes which events came, with what and how often, and
//! answers as the path of the output says.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use benches::{
    Outcome,
    connection::body_length,
    event,
    orders::{order, say},
};
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
    time::sleep,
};

use crate::{answers, arrivals::Arrivals, content::Content};

/// Answers take up to so many milliseconds, so that something is in flight.
const SLOWEST: u64 = 20;
const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const COME_AGAIN: &[u8] = b"HTTP/1.1 503 Later\r\ncontent-length: 0\r\n\r\n";

/// What an output does, which is the path of its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Mode {
    /// Takes everything.
    Steady,
    /// Takes everything, one request at a time.
    Ordered,
    /// Refuses every fifth event when it comes first.
    Flaky,
    /// Refuses everything while the gate is shut.
    Closed,
    /// Answers nothing while the gate is shut.
    Hanging,
    /// Answers each event first with what nobody should, see [`answers`].
    Hostile,
    /// Sends to a private address.
    Redirecting,
}

impl Mode {
    const ALL: [Self; 7] = [
        Self::Steady,
        Self::Ordered,
        Self::Flaky,
        Self::Closed,
        Self::Hanging,
        Self::Hostile,
        Self::Redirecting,
    ];

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Steady => "/steady",
            Self::Ordered => "/ordered",
            Self::Flaky => "/flaky",
            Self::Closed => "/closed",
            Self::Hanging => "/hanging",
            Self::Hostile => "/hostile",
            Self::Redirecting => "/redirecting",
        }
    }

    /// The output of a target, and the extra path with the query behind it.
    fn of(target: &str) -> Option<(Self, &str)> {
        let modes = Self::ALL.into_iter();
        let mut found = modes.filter_map(|mode| Some((mode, target.strip_prefix(mode.path())?)));
        found.find(|(_, rest)| rest.is_empty() || rest.starts_with(['/', '?']))
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Forgets what arrived.
    Reset,
    /// Opens or shuts the gate.
    Open(bool),
    /// Looks out for the next arrival, whatever it is.
    Watch,
    /// Compares these ledgers with what each of these outputs took.
    Compare { ledgers: Vec<PathBuf>, outputs: Vec<Mode> },
    /// Compares the content and the order of the deliveries to these outputs with the ledgers
    /// of the latest `Compare`.
    Judge { outputs: Vec<Mode> },
}

struct Shared {
    arrivals: Mutex<Arrivals>,
    gate: watch::Sender<bool>,
    /// The one address that may be connected to.
    public: Option<IpAddr>,
    port: u16,
}

/// Microseconds of the wall clock, which the processes of one machine share.
pub(crate) fn now_micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

pub(crate) fn run(public: Option<IpAddr>) -> Outcome<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let address: SocketAddr = match public {
        None => (Ipv4Addr::LOCALHOST, 0).into(),
        // In a network of its own: all addresses of both families.
        Some(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let listener = runtime.block_on(TcpListener::bind(address))?;
    let port = listener.local_addr()?.port();
    say(&SocketAddr::new(public.unwrap_or(Ipv4Addr::LOCALHOST.into()), port))?;
    let gate = watch::Sender::new(true);
    let shared = Arc::new(Shared { arrivals: Mutex::default(), gate, public, port });
    let obeying = Arc::clone(&shared);
    std::thread::spawn(move || {
        if let Err(error) = obey(&obeying) {
            eprintln!("sink: {error}");
        }
        std::process::exit(0);
    });
    runtime.block_on(async {
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let shared = Arc::clone(&shared);
            // A connection that breaks is the business of who broke it.
            tokio::spawn(async move { serve(stream, &shared).await });
        }
    })
}

fn obey(shared: &Shared) -> Outcome<()> {
    while let Some(order) = order::<Order>()? {
        let mut arrivals = shared.arrivals();
        match order {
            Order::Reset => *arrivals = Arrivals::default(),
            Order::Open(open) => drop(shared.gate.send_replace(open)),
            Order::Watch => arrivals.arrived.first = None,
            Order::Compare { ledgers, outputs } => arrivals.compare(&ledgers, &outputs)?,
            Order::Judge { outputs } => arrivals.judge(&outputs),
        }
        say(&arrivals.arrived)?;
    }
    Ok(())
}

async fn serve(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let local = stream.local_addr()?.ip().to_canonical();
    if shared.public.is_some_and(|public| public != local) {
        shared.arrivals().intrude(local);
    }
    let mut read = Vec::with_capacity(16 << 10);
    while let Some(request) = request(&mut stream, &mut read).await? {
        let Some((mode, id, content)) = request else {
            shared.arrivals().arrived.damaged += 1;
            return Ok(());
        };
        let times = shared.arrivals().arrive(mode, id, content);
        match mode {
            Mode::Steady => sleep(Duration::from_millis(id % SLOWEST)).await,
            Mode::Flaky if times == 0 && id.is_multiple_of(5) => {
                stream.write_all(COME_AGAIN).await?;
                continue;
            }
            Mode::Closed if !*shared.gate.borrow() => {
                stream.write_all(COME_AGAIN).await?;
                continue;
            }
            Mode::Hanging if !*shared.gate.borrow() => return hang(stream).await,
            Mode::Hostile if times == 0 => {
                if answers::counts(id) {
                    shared.arrivals().answer(mode, id, None);
                }
                return answers::answer(stream, id).await;
            }
            Mode::Redirecting => {
                let to = format!("http://10.0.0.5:{}{}", shared.port, Mode::Steady.path());
                let head = "HTTP/1.1 307 Elsewhere\r\ncontent-length: 0\r\nlocation:";
                stream.write_all(format!("{head} {to}\r\n\r\n").as_bytes()).await?;
                continue;
            }
            _ => {}
        }
        stream.write_all(OK).await?;
        shared.arrivals().answer(mode, id, Some(now_micros()));
    }
    Ok(())
}

impl Shared {
    fn arrivals(&self) -> MutexGuard<'_, Arrivals> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Until the other side gives up.
async fn hang(mut stream: TcpStream) -> io::Result<()> {
    let mut read = [0; 1 << 10];
    while stream.read(&mut read).await? > 0 {}
    Ok(())
}

/// A whole request: which output it is for, which event it is, and what it has; `None`
/// inside where it is no event.
type Request = Option<(Mode, u64, Content)>;

/// Reads a whole request. Nothing when there are no more.
async fn request(stream: &mut TcpStream, read: &mut Vec<u8>) -> io::Result<Option<Request>> {
    let (head, whole) = loop {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut request = httparse::Request::new(&mut headers);
        if let httparse::Status::Complete(head) = request.parse(read).map_err(io::Error::other)? {
            break (head, head + body_length(request.headers)?);
        }
        if stream.read_buf(read).await? == 0 {
            return Ok(None);
        }
    };
    read.reserve(whole.saturating_sub(read.len()));
    while read.len() < whole {
        if stream.read_buf(read).await? == 0 {
            return Ok(None);
        }
    }
    let request = understand(&read[..head], &read[head..whole])?;
    read.drain(..whole);
    Ok(Some(request))
}

fn understand(head: &[u8], body: &[u8]) -> io::Result<Request> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut headers);
    request.parse(head).map_err(io::Error::other)?;
    let Some((mode, target)) = Mode::of(request.path.unwrap_or_default()) else { return Ok(None) };
    let Some(id) = event::read(body) else { return Ok(None) };
    let headers = request.headers.iter().map(|header| (header.name, header.value));
    let content = Content::of(request.method.unwrap_or_default(), target, headers, body);
    Ok(Some((mode, id, content)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_the_path_of_an_output_belongs_to_the_webhook() {
        assert_eq!(Mode::of("/steady"), Some((Mode::Steady, "")));
        assert_eq!(Mode::of("/ordered/a?b"), Some((Mode::Ordered, "/a?b")));
        assert_eq!(Mode::of("/steadyness"), None);
    }
}
