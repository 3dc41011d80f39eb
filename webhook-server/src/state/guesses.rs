//! Slows down addresses that show wrong credentials.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    hash::{BuildHasher, Hash, RandomState},
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;
use webhook_core::Error;

use crate::config::ManagementConfig;

/// The time within which wrong credentials are counted.
const WINDOW: Duration = Duration::from_secs(60);
/// How many answers to one address are held back at the same time.
const TURNS: usize = 4;
/// How many addresses are remembered. Those with the fewest wrong credentials are
/// forgotten first.
const MAX_ADDRESSES: usize = 4_096;
/// How many right credentials are remembered.
const MAX_RIGHT: usize = 1_024;

/// Counts the wrong credentials of each address.
///
/// The first wrong credentials of an address are answered at once. After them each answer
/// is delayed, and at most [`TURNS`] are delayed at the same time: further credentials of
/// the address are refused without a look at them. So a client cannot guess faster by
/// sending many requests at once. Credentials that were right before are always checked,
/// so that other clients behind the same address go on working.
#[derive(Debug)]
pub(crate) struct Guesses {
    /// How long an answer is delayed.
    delay: Duration,
    /// Hashes credentials, so that none is kept in memory.
    fingerprints: RandomState,
    /// What is remembered.
    book: Mutex<Book>,
}

/// What is remembered about addresses and credentials.
#[derive(Debug)]
struct Book {
    /// By how much one wrong credential moves [`Record::until`]: the [`WINDOW`] divided by
    /// the number of wrong credentials that are answered at once.
    weight: Duration,
    /// The addresses that showed wrong credentials.
    addresses: HashMap<IpAddr, Record>,
    /// The fingerprints of right credentials.
    right: HashSet<u64>,
    /// The same fingerprints, the oldest first.
    right_in_order: VecDeque<u64>,
}

/// What is remembered about an address.
#[derive(Debug)]
struct Record {
    /// When all of its wrong credentials are forgotten.
    until: Instant,
    /// For each delayed answer that it may have, when the next one may begin.
    turns: [Instant; TURNS],
}

/// Credentials that are being checked.
#[derive(Debug)]
pub(crate) struct Attempt<'a> {
    /// Where the outcome is counted.
    guesses: &'a Guesses,
    /// The address that showed them, if it counts.
    from: Option<IpAddr>,
    /// The hash of the credentials.
    fingerprint: u64,
    /// Which of [`Record::turns`] this check takes, if it needs one.
    turn: Option<usize>,
    /// Whether they turned out right.
    is_right: bool,
}

impl Guesses {
    pub(crate) fn new(config: &ManagementConfig) -> Self {
        Self {
            delay: config.wrong_credentials_delay,
            fingerprints: RandomState::new(),
            book: Mutex::new(Book::new(config.wrong_credentials)),
        }
    }

    /// Begins to check credentials. It is `Busy` when too many wrong ones came from the
    /// address. Without an address or a delay nothing is counted.
    pub(crate) fn attempt(
        &self,
        from: Option<IpAddr>,
        credentials: &impl Hash,
    ) -> Result<Attempt<'_>, Error> {
        let from = from.filter(|_| !self.delay.is_zero()).map(network);
        let fingerprint = self.fingerprints.hash_one(credentials);
        let turn = match from {
            Some(from) => self.book().turn(from, fingerprint, Instant::now(), self.delay),
            None => Ok(None),
        };
        let turn = turn.map_err(|after| Error::busy("too many wrong credentials", after))?;
        Ok(Attempt { guesses: self, from, fingerprint, turn, is_right: false })
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attempt<'_> {
    /// Says that the credentials are right.
    pub(crate) fn right(mut self) {
        self.is_right = true;
        if self.from.is_some() {
            self.guesses.book().remember(self.fingerprint);
        }
    }

    /// Says that the credentials are wrong, and returns how long to delay the answer.
    pub(crate) fn wrong(self) -> Duration {
        let Some(from) = self.from else { return Duration::ZERO };
        let mut book = self.guesses.book();
        book.right.remove(&self.fingerprint);
        match book.wrong(from, Instant::now()) {
            true => self.guesses.delay,
            false => Duration::ZERO,
        }
    }
}

impl Drop for Attempt<'_> {
    /// Frees the turn: at once when the credentials were right, otherwise when the delay is
    /// over, because hanging up early must not give a client another turn.
    fn drop(&mut self) {
        let (Some(from), Some(turn)) = (self.from, self.turn) else { return };
        let now = Instant::now();
        let free = if self.is_right { now } else { now + self.guesses.delay };
        let mut book = self.guesses.book();
        if let Some(turn) = book.addresses.get_mut(&from).and_then(|r| r.turns.get_mut(turn)) {
            *turn = free;
        }
    }
}

impl Book {
    fn new(at_once: u32) -> Self {
        Self {
            weight: WINDOW / at_once.max(1),
            addresses: HashMap::new(),
            right: HashSet::new(),
            right_in_order: VecDeque::new(),
        }
    }

    /// The turn that checking these credentials takes, or none when it takes none. The
    /// error is how long to wait until a turn is free.
    fn turn(
        &mut self,
        from: IpAddr,
        fingerprint: u64,
        now: Instant,
        delay: Duration,
    ) -> Result<Option<usize>, Duration> {
        if self.right.contains(&fingerprint) {
            return Ok(None);
        }
        let weight = self.weight;
        let Some(record) = self.addresses.get_mut(&from).filter(|r| r.is_slow(weight, now)) else {
            return Ok(None);
        };
        match record.turns.iter().position(|free| *free <= now) {
            Some(turn) => {
                // Set to the end of the window, in case the check takes longer than the delay:
                // then more than `TURNS` checks may run at once.
                record.turns[turn] = now + WINDOW.max(delay);
                Ok(Some(turn))
            }
            None => {
                let next = record.turns.iter().min().map(|free| *free - now);
                Err(next.unwrap_or(delay).min(delay))
            }
        }
    }

    /// Counts a wrong credential. The result says whether its answer must be delayed.
    fn wrong(&mut self, from: IpAddr, now: Instant) -> bool {
        if self.addresses.len() >= MAX_ADDRESSES && !self.addresses.contains_key(&from) {
            self.forget(now);
        }
        let weight = self.weight;
        let record =
            self.addresses.entry(from).or_insert(Record { until: now, turns: [now; TURNS] });
        let is_slow = record.is_slow(weight, now);
        record.until = (record.until.max(now) + weight).min(now + WINDOW);
        is_slow
    }

    /// Forgets the addresses whose window has passed and, if those are fewer than half,
    /// the half of the others with the fewest wrong credentials.
    fn forget(&mut self, now: Instant) {
        self.addresses.retain(|_, record| record.until > now);
        if self.addresses.len() > MAX_ADDRESSES / 2 {
            let mut moments: Vec<_> = self.addresses.values().map(|record| record.until).collect();
            let middle = moments.len() / 2;
            let (_, middle, _) = moments.select_nth_unstable(middle);
            let middle = *middle;
            let mut left = MAX_ADDRESSES / 2;
            self.addresses.retain(|_, record| {
                let stays = record.until >= middle && left > 0;
                left -= usize::from(stays);
                stays
            });
        }
    }

    fn remember(&mut self, fingerprint: u64) {
        if !self.right.insert(fingerprint) {
            return;
        }
        self.right_in_order.push_back(fingerprint);
        if self.right_in_order.len() > MAX_RIGHT
            && let Some(oldest) = self.right_in_order.pop_front()
        {
            self.right.remove(&oldest);
        }
    }
}

impl Record {
    /// Whether the answer to another wrong credential must be delayed.
    fn is_slow(&self, weight: Duration, now: Instant) -> bool {
        self.until + weight > now + WINDOW
    }
}

/// The address by which a client is counted: of IPv6 the network of 64 bits, because one
/// client has all addresses in it.
pub(crate) fn network(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => IpAddr::V4(ip),
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Duration = Duration::from_secs(1);
    const SOMEONE: u64 = 7;

    fn ip(last: u32) -> IpAddr {
        IpAddr::V4(last.into())
    }

    #[test]
    fn a_few_a_minute_are_answered_at_once() {
        let (mut book, now) = (Book::new(3), Instant::now());
        let wrong = [(); 5].map(|()| book.wrong(ip(1), now));
        assert_eq!(wrong, [false, false, false, true, true]);
        assert!(!book.wrong(ip(2), now), "each address counts for itself");
        assert!(!book.wrong(ip(1), now + WINDOW / 3), "one is forgotten");
        assert!(book.wrong(ip(1), now + WINDOW / 3));
        assert!(!book.wrong(ip(1), now + 3 * WINDOW), "all of them are");
    }

    #[test]
    fn beyond_them_few_are_looked_at_but_the_right_ones_always() {
        let (mut book, now) = (Book::new(1), Instant::now());
        assert_eq!(book.turn(ip(1), 0, now, DELAY), Ok(None));
        book.wrong(ip(1), now);
        for turn in 0..TURNS {
            assert_eq!(book.turn(ip(1), 0, now, DELAY), Ok(Some(turn)));
        }
        assert_eq!(book.turn(ip(1), 0, now, DELAY), Err(DELAY));
        assert_eq!(book.turn(ip(2), 0, now, DELAY), Ok(None), "from elsewhere");
        book.remember(SOMEONE);
        assert_eq!(book.turn(ip(1), SOMEONE, now, DELAY), Ok(None));
        assert_eq!(book.turn(ip(1), 0, now + 2 * WINDOW, DELAY), Ok(None), "later");
    }

    #[test]
    fn a_turn_is_taken_until_the_answer_is_due_even_for_who_hangs_up() {
        let guesses = Guesses {
            delay: WINDOW,
            fingerprints: RandomState::new(),
            book: Mutex::new(Book::new(1)),
        };
        let attempt = |credential: &str| guesses.attempt(Some(ip(1)), &credential);
        assert_eq!(attempt("a").expect("the first").wrong(), Duration::ZERO);
        for number in 0..TURNS {
            let attempt = attempt("b").unwrap_or_else(|error| panic!("turn {number}: {error}"));
            match number % 2 {
                0 => assert_eq!(attempt.wrong(), WINDOW),
                _ => drop(attempt),
            }
        }
        let error = attempt("b").expect_err("no turn");
        assert!(error.retry_after().is_some_and(|after| after <= WINDOW), "{error:?}");
        let elsewhere = guesses.attempt(Some(ip(2)), &"right").expect("nothing was wrong");
        elsewhere.right();
        attempt("right").expect("it was right before").right();
        attempt("right").expect("it still is").wrong();
        attempt("right").expect_err("not any more");
    }

    #[test]
    fn memory_is_bounded() {
        let (mut book, now) = (Book::new(2), Instant::now());
        for number in 0..3 * MAX_ADDRESSES {
            let number = u32::try_from(number).expect("few");
            book.wrong(ip(number), now + Duration::from_millis(number.into()) / 10);
            book.remember(number.into());
            assert!(book.addresses.len() <= MAX_ADDRESSES && book.right.len() <= MAX_RIGHT);
        }
        assert!(book.addresses.len() >= MAX_ADDRESSES / 2, "the latest are there");
        assert_eq!(book.right_in_order.len(), MAX_RIGHT);
        // All at the same moment.
        let mut book = Book::new(2);
        for number in 0..=MAX_ADDRESSES {
            book.wrong(ip(u32::try_from(number).expect("few")), now);
        }
        assert_eq!(book.addresses.len(), MAX_ADDRESSES / 2 + 1);
    }

    #[test]
    fn a_network_is_one_sender() {
        let network = |text: &str| network(text.parse().expect("an address")).to_string();
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(network("::ffff:192.0.2.1"), "192.0.2.1");
        assert_eq!(network("192.0.2.1"), "192.0.2.1");
    }
}
