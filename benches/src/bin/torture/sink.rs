//! The process that receives: it counts which events came and how often, and
//! answers as the path of the output says.

use std::{
    collections::{HashMap, HashSet},
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
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

use crate::{answers, ledger::Ledger};

/// Answers take up to so many milliseconds, so that something is in flight.
const SLOWEST: u64 = 20;
/// Missing events and uninvited connections that are named.
const NAMED: usize = 20;
const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const COME_AGAIN: &[u8] = b"HTTP/1.1 503 Later\r\ncontent-length: 0\r\n\r\n";

/// What an output does, which is the path of its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Mode {
    /// Takes everything.
    Steady,
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
    const ALL: [Self; 6] =
        [Self::Steady, Self::Flaky, Self::Closed, Self::Hanging, Self::Hostile, Self::Redirecting];

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Steady => "/steady",
            Self::Flaky => "/flaky",
            Self::Closed => "/closed",
            Self::Hanging => "/hanging",
            Self::Hostile => "/hostile",
            Self::Redirecting => "/redirecting",
        }
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
}

/// What has arrived.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Arrived {
    /// Deliveries of events that the same output had taken before.
    pub(crate) again: u64,
    /// What is no event, or not a whole one.
    pub(crate) damaged: u64,
    /// When the first event arrived after a `Watch`, in microseconds of the wall clock.
    pub(crate) first: Option<u64>,
    /// Acknowledged events that an output has not taken.
    pub(crate) missing: u64,
    /// Some of them.
    pub(crate) named: Vec<u64>,
    /// Addresses that are private and were connected to.
    pub(crate) uninvited: Vec<IpAddr>,
}

/// One event at one output.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    times: u64,
    /// Whether it was answered with 2xx, readable or not.
    taken: bool,
    /// Whether the answer was one that has to be understood.
    plainly: bool,
}

#[derive(Debug, Default)]
struct State {
    seen: HashMap<(Mode, u64), Seen>,
    arrived: Arrived,
}

struct Shared {
    state: Mutex<State>,
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
    let (gate, state) = (watch::Sender::new(true), Mutex::default());
    let shared = Arc::new(Shared { state, gate, public, port });
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
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        match order {
            Order::Reset => *state = State::default(),
            Order::Open(open) => drop(shared.gate.send_replace(open)),
            Order::Watch => state.arrived.first = None,
            Order::Compare { ledgers, outputs } => {
                let mut ids = HashSet::new();
                for ledger in ledgers {
                    ids.extend(Ledger::read(&ledger)?);
                }
                state.compare(&ids, &outputs);
            }
        }
        say(&state.arrived)?;
    }
    Ok(())
}

impl State {
    fn compare(&mut self, ids: &HashSet<u64>, outputs: &[Mode]) {
        let took = |mode, id| self.seen.get(&(mode, id)).is_some_and(|seen| seen.taken);
        let lacks = |id: &&u64| outputs.iter().any(|mode| !took(*mode, **id));
        let missing: Vec<u64> = ids.iter().filter(lacks).copied().collect();
        self.arrived.missing = missing.len() as u64;
        self.arrived.named = missing.into_iter().take(NAMED).collect();
    }
}

async fn serve(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    let local = stream.local_addr()?.ip().to_canonical();
    if shared.public.is_some_and(|public| public != local) {
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.arrived.uninvited.len() < NAMED {
            state.arrived.uninvited.push(local);
        }
    }
    let mut read = Vec::with_capacity(16 << 10);
    while let Some((head, whole, mode)) = request(&mut stream, &mut read).await? {
        let id = event::read(&read[head..whole]);
        read.drain(..whole);
        let (Some(mode), Some(id)) = (mode, id) else {
            shared.state.lock().unwrap_or_else(PoisonError::into_inner).arrived.damaged += 1;
            return Ok(());
        };
        let times = shared.arrive(mode, id);
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
            Mode::Hanging if !*shared.gate.borrow() => return shared.hang(stream).await,
            Mode::Hostile if times == 0 => {
                if answers::counts(id) {
                    shared.take(mode, id, false);
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
        shared.take(mode, id, true);
        stream.write_all(OK).await?;
    }
    Ok(())
}

impl Shared {
    /// Notes that an event came; how often it had come before.
    fn arrive(&self, mode: Mode, id: u64) -> u64 {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.arrived.first.get_or_insert_with(now_micros);
        let seen = state.seen.entry((mode, id)).or_default();
        seen.times += 1;
        let (times, again) = (seen.times - 1, u64::from(seen.plainly));
        state.arrived.again += again;
        times
    }

    /// Notes that an event is answered with 2xx.
    fn take(&self, mode: Mode, id: u64, plainly: bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = state.seen.entry((mode, id)).or_default();
        (seen.taken, seen.plainly) = (true, plainly);
    }

    /// Until the other side gives up.
    async fn hang(&self, mut stream: TcpStream) -> io::Result<()> {
        let mut read = [0; 1 << 10];
        while stream.read(&mut read).await? > 0 {}
        Ok(())
    }
}

/// Reads a whole request: the length of its head, its own length, and which
/// output it is for. Nothing when there are no more.
async fn request(
    stream: &mut TcpStream,
    read: &mut Vec<u8>,
) -> io::Result<Option<(usize, usize, Option<Mode>)>> {
    let (head, whole, mode) = loop {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut request = httparse::Request::new(&mut headers);
        if let httparse::Status::Complete(head) = request.parse(read).map_err(io::Error::other)? {
            let path = request.path.unwrap_or_default();
            let mode = Mode::ALL.into_iter().find(|mode| mode.path() == path);
            break (head, head + body_length(request.headers)?, mode);
        }
        if stream.read_buf(read).await? == 0 {
            return Ok(None);
        }
    };
    while read.len() < whole {
        if stream.read_buf(read).await? == 0 {
            return Ok(None);
        }
    }
    Ok(Some((head, whole, mode)))
}
