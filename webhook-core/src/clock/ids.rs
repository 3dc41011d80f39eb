//! New identifiers, from the clock and random bits that are handed in.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use uuid::Uuid;

use crate::wire::{Timestamp, id::Id};

use crate::clock::Clock;

/// The random bits of a counter when it begins: one fewer than it has, so that
/// it does not overflow soon.
const COUNTER_SEED: u64 = (1 << (COUNTER_BITS - 1)) - 1;
/// Bits between the time and the random end of an identifier.
const COUNTER_BITS: u32 = 42;
/// The moments that an identifier can hold.
const MILLIS: u64 = (1 << 48) - 1;

/// Where the random bits of identifiers come from.
///
/// ```
/// use std::sync::Arc;
/// use webhook_core::{Ids, Random, SystemClock};
/// use webhook_core::WebhookId;
///
/// /// For a test that knows the end of an identifier.
/// #[derive(Debug)]
/// struct Zero;
///
/// impl Random for Zero {
///     fn bits(&self) -> u128 {
///         0
///     }
/// }
///
/// let id: WebhookId = Ids::new(Arc::new(SystemClock), Arc::new(Zero)).next();
/// assert!(id.to_string().ends_with("00000000"));
/// ```
pub trait Random: Send + Sync + fmt::Debug {
    /// The next bits. Those that are a UUID's version and variant (76 to 79, 62
    /// and 63) need not be random.
    fn bits(&self) -> u128;
}

/// The generator that the operating system seeds; nobody can guess what it gives.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    #[allow(clippy::disallowed_methods, reason = "this is the one way")]
    fn bits(&self) -> u128 {
        Uuid::new_v4().as_u128()
    }
}

/// Makes identifiers.
///
/// [`next`](Self::next) makes time-ordered ones (version 7, RFC 9562): the
/// milliseconds that the clock shows, a counter of 42 bits that begins at random
/// with each millisecond, and 32 random bits. They are strictly increasing. When
/// the clock goes back, they stay at the latest moment that it has shown.
///
/// ```
/// use std::sync::Arc;
/// use webhook_core::{Ids, SystemClock, SystemRandom};
/// use webhook_core::WebhookId;
///
/// let ids = Ids::new(Arc::new(SystemClock), Arc::new(SystemRandom));
/// let first: WebhookId = ids.next();
/// assert!(first < ids.next());
/// ```
#[derive(Debug)]
pub struct Ids {
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    last: Mutex<Last>,
}

/// What the last time-ordered identifier began with.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    millis: u64,
    counter: u64,
}

impl Ids {
    /// Identifiers of the time that `clock` shows.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Self {
        Self { clock, random, last: Mutex::default() }
    }

    /// A new identifier, greater than every one that was made here before.
    #[must_use]
    pub fn next<K>(&self) -> Id<K> {
        self.next_and_moment().0
    }

    /// A new identifier and the moment that is in it, so that what is ordered by
    /// one is ordered by the other.
    #[must_use]
    pub fn next_and_moment<K>(&self) -> (Id<K>, Timestamp) {
        let bits = self.random.bits();
        let seed = u64::try_from(bits >> 80).unwrap_or_default() & COUNTER_SEED;
        let Last { millis, counter } = {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            // Read here, so that of two threads the later one has the later moment.
            let now = u64::try_from(self.clock.now().as_millis()).unwrap_or_default().min(MILLIS);
            *last = last.following(now, seed);
            *last
        };
        let moment = Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX));
        (Id::from_uuid(time_ordered(millis, counter, bits)), moment)
    }

    /// A new identifier that nobody can guess: 122 random bits (version 4, RFC
    /// 9562), in no order. For what is an address at the same time: time-ordered
    /// ones of a moment share all but 32 bits.
    #[must_use]
    pub fn unguessable<K>(&self) -> Id<K> {
        let bytes = self.random.bits().to_be_bytes();
        Id::from_uuid(uuid::Builder::from_random_bytes(bytes).into_uuid())
    }
}

impl Last {
    fn following(self, now: u64, seed: u64) -> Self {
        let counter = self.counter + 1;
        if now > self.millis {
            Self { millis: now, counter: seed }
        } else if counter >> COUNTER_BITS == 0 {
            Self { millis: self.millis, counter }
        } else {
            Self { millis: self.millis + 1, counter: seed }
        }
    }
}

/// The time, the counter around version and variant, and the end of `bits`.
fn time_ordered(millis: u64, counter: u64, bits: u128) -> Uuid {
    let counter = u128::from(counter);
    Uuid::from_u128(
        u128::from(millis & MILLIS) << 80
            | 0x7 << 76
            | (counter >> 30) << 64
            | 0b10 << 62
            | (counter & 0x3fff_ffff) << 32
            | bits & 0xffff_ffff,
    )
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicI64, Ordering},
        time::Duration,
    };

    use super::*;
    use crate::wire::id::{WebhookId, kind};

    /// Shows what the test says.
    #[derive(Debug, Default)]
    struct Shown(AtomicI64);

    #[async_trait::async_trait]
    impl Clock for Shown {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(self.0.load(Ordering::Relaxed))
        }

        async fn sleep_until(&self, _: Timestamp) {
            std::future::pending().await
        }
    }

    /// Always the same bits.
    #[derive(Debug)]
    struct Same(u128);

    impl Random for Same {
        fn bits(&self) -> u128 {
            self.0
        }
    }

    #[test]
    fn identifiers_are_those_of_the_standard() {
        let clock = Arc::new(Shown::default());
        clock.0.store(0x0198_7654_3210, Ordering::Relaxed);
        let ids = Ids::new(clock, Arc::new(Same(u128::MAX)));
        let first: WebhookId = ids.next();
        assert_eq!(first.to_string(), "01987654-3210-77ff-bfff-ffffffffffff");
        let second: WebhookId = ids.next();
        assert_eq!(second.to_string(), "01987654-3210-7800-8000-0000ffffffff");
        for id in [first, second] {
            assert_eq!(id.as_uuid().get_version_num(), 7);
            assert_eq!(id.as_uuid().get_variant(), uuid::Variant::RFC4122);
            let (secs, nanos) = id.as_uuid().get_timestamp().expect("it has one").to_unix();
            let shown = Duration::from_millis(0x0198_7654_3210);
            assert_eq!(Duration::new(secs, nanos), shown);
        }
        let address: Id<kind::Input> = ids.unguessable();
        assert_eq!(address.as_uuid().get_version_num(), 4);
    }

    #[test]
    fn they_increase_whatever_the_clock_does() {
        let clock = Arc::new(Shown::default());
        let ids = Ids::new(clock.clone(), Arc::new(SystemRandom));
        let mut last: (WebhookId, Timestamp) = ids.next_and_moment();
        for (millis, shown) in [(5, 5), (5, 5), (9, 9), (2, 9), (i64::MIN, 9), (10, 10)] {
            clock.0.store(millis, Ordering::Relaxed);
            for _ in 0..100 {
                let next = ids.next_and_moment();
                assert!(last.0 < next.0 && last.1 <= next.1, "{last:?} {next:?}");
                assert_eq!(next.1, Timestamp::from_millis(shown));
                last = next;
            }
        }
    }

    #[test]
    fn a_counter_that_is_used_up_borrows_a_millisecond() {
        let last = Last { millis: 7, counter: (1 << COUNTER_BITS) - 1 };
        let Last { millis, counter } = last.following(7, 3);
        assert_eq!((millis, counter), (8, 3));
    }
}
