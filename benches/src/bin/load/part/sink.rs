//! Where deliveries arrive: counts them, keeps a ledger for each output, and
//! answers 200.

use std::{
    io,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::{connection::body_length, event};
use crate::{
    Outcome,
    ledger::{Ledger, now_micros},
};

/// The path of an output that never answers.
pub(crate) const HANGING_PATH: &str = "/hang";

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
/// Outputs that may have a ledger.
const MOST_OUTPUTS: usize = 1_000;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    Count,
    /// Forgets what arrived.
    Reset,
    /// Looks out for the next arrival, whatever it is.
    Watch,
    /// Saves the ledger of output 0 as `0`, and so on.
    Save(PathBuf),
}

/// What has arrived.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Arrived {
    /// Different events at each output.
    pub(crate) distinct: Vec<u64>,
    /// Events that had arrived before.
    pub(crate) again: u64,
    /// What is no event, or not a whole one.
    pub(crate) damaged: u64,
    /// When the last new event arrived, in microseconds of the wall clock.
    pub(crate) last: u64,
    /// When the first event arrived after a `Watch`, new or not.
    pub(crate) first: Option<u64>,
}

impl Arrived {
    /// Different events at this output.
    pub(crate) fn of(&self, output: usize) -> u64 {
        self.distinct.get(output).copied().unwrap_or_default()
    }
}

#[derive(Debug, Default)]
struct State {
    ledgers: Vec<Ledger>,
    damaged: u64,
    last: u64,
    first: Option<u64>,
}

pub(super) fn run(delay_ms: u64) -> Outcome<()> {
    let runtime = super::single_threaded()?;
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    super::say(&listener.local_addr()?)?;
    let state = Arc::new(Mutex::new(State::default()));
    let obeying = Arc::clone(&state);
    std::thread::spawn(move || {
        if let Err(error) = obey(&obeying) {
            eprintln!("sink: {error}");
        }
        std::process::exit(0);
    });
    let delay = Duration::from_millis(delay_ms);
    runtime.block_on(async {
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let state = Arc::clone(&state);
            // A connection that breaks is the business of who broke it.
            tokio::spawn(async move { serve(stream, &state, delay).await });
        }
    })
}

fn obey(state: &Mutex<State>) -> Outcome<()> {
    while let Some(order) = super::order::<Order>()? {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        match order {
            Order::Count => {}
            Order::Reset => *state = State::default(),
            Order::Watch => state.first = None,
            Order::Save(folder) => {
                for (number, ledger) in state.ledgers.iter().enumerate() {
                    ledger.save(&folder.join(number.to_string()))?;
                }
            }
        }
        super::say(&Arrived {
            distinct: state.ledgers.iter().map(|ledger| ledger.distinct).collect(),
            again: state.ledgers.iter().map(|ledger| ledger.again).sum(),
            damaged: state.damaged,
            last: state.last,
            first: state.first,
        })?;
    }
    Ok(())
}

async fn serve(mut stream: TcpStream, state: &Mutex<State>, delay: Duration) -> io::Result<()> {
    let mut read = Vec::with_capacity(16 << 10);
    loop {
        let Some((head, whole, path)) = request(&mut stream, &mut read).await? else {
            return Ok(());
        };
        let Some(output) = path else {
            // Until the other side gives up.
            while stream.read_buf(&mut read).await? > 0 {
                read.clear();
            }
            return Ok(());
        };
        arrive(state, output, &read[head..whole]);
        read.drain(..whole);
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        stream.write_all(ANSWER).await?;
    }
}

/// Reads a whole request: the length of its head, its own length, and which
/// output it is for, none for one that hangs. Nothing when there are no more.
async fn request(
    stream: &mut TcpStream,
    read: &mut Vec<u8>,
) -> io::Result<Option<(usize, usize, Option<usize>)>> {
    let (head, whole, output) = loop {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut request = httparse::Request::new(&mut headers);
        if let httparse::Status::Complete(head) = request.parse(read).map_err(io::Error::other)? {
            let path = request.path.unwrap_or_default();
            let output = match path {
                HANGING_PATH => None,
                _ => Some(path.trim_start_matches('/').parse().unwrap_or(MOST_OUTPUTS)),
            };
            break (head, head + body_length(request.headers)?, output);
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
    Ok(Some((head, whole, output)))
}

fn arrive(state: &Mutex<State>, output: usize, body: &[u8]) {
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(id) = event::read(body).filter(|_| output < MOST_OUTPUTS) else {
        state.damaged += 1;
        return;
    };
    if state.ledgers.len() <= output {
        state.ledgers.resize_with(output + 1, Ledger::default);
    }
    let now = now_micros();
    state.first.get_or_insert(now);
    let before = state.ledgers[output].distinct;
    match state.ledgers[output].mark(id, now) {
        Ok(()) if state.ledgers[output].distinct > before => state.last = now,
        Ok(()) => {}
        Err(_) => state.damaged += 1,
    }
}
