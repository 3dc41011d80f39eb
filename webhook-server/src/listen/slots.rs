//! Which clients may have a connection.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use prometheus_client::metrics::gauge::Gauge;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout},
};
use webhook_core::relay::TrustedProxies;

use super::seat::Seat;
use crate::state::network;

/// A connection that is idle for less than this is not closed: one that was just opened
/// has had no time to send its request.
const SETTLED: Duration = Duration::from_secs(1);
/// How often a client that waits for a slot looks for an idle connection again.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The slots for connections: a bound on all of them, and one for each address.
#[derive(Debug)]
pub(super) struct Slots {
    /// One permit for each slot that is free.
    free: Arc<Semaphore>,
    /// How many slots the connections of one address may have.
    max_per_address: usize,
    /// Addresses without that bound: each brings the connections of many clients.
    proxies: TrustedProxies,
    /// The connections that have a slot.
    taken: Mutex<Taken>,
    /// The moment that all idle times count from.
    clock: Instant,
    /// The metric of open connections.
    open: Gauge,
}

/// The connections that have a slot.
#[derive(Debug, Default)]
struct Taken {
    /// The number of the connection that got the last slot.
    last: u64,
    /// The state of each connection, by its number.
    seats: HashMap<u64, Arc<Seat>>,
    /// How many connections each address has, or each network of IPv6.
    of_address: HashMap<IpAddr, usize>,
}

/// A connection's right to be open. Dropping it frees the slot.
#[derive(Debug)]
pub(super) struct Slot {
    /// The connection's number in [`Taken::seats`].
    number: u64,
    /// What the connection is doing.
    seat: Arc<Seat>,
    /// The connection's part in the bound of its address.
    address: AddressCount,
    /// The connection's part in the bound on all of them.
    _permit: OwnedSemaphorePermit,
}

/// One connection in the count of its address. Dropping it counts one less.
#[derive(Debug)]
struct AddressCount {
    /// Where it is counted.
    slots: Arc<Slots>,
    /// The address, or its network; none for a trusted proxy, which is not counted.
    address: Option<IpAddr>,
}

impl Slots {
    /// `max` slots, of which the connections of one address may have `max_per_address`.
    pub(super) fn new(
        max: usize,
        max_per_address: usize,
        proxies: TrustedProxies,
        open: Gauge,
    ) -> Arc<Self> {
        Arc::new(Self {
            free: Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS))),
            max_per_address,
            proxies,
            taken: Mutex::default(),
            clock: Instant::now(),
            open,
        })
    }

    /// A slot for a connection from `ip`, or none when the address has all of its slots.
    /// When all slots are taken, the connection that has been idle for longest is closed;
    /// while none is idle, this waits.
    pub(super) async fn take(self: &Arc<Self>, ip: IpAddr) -> Option<Slot> {
        let address = self.count(ip)?;
        let permit = loop {
            let free = Arc::clone(&self.free);
            if let Ok(permit) = Arc::clone(&free).try_acquire_owned() {
                break permit;
            }
            self.evict_oldest();
            if let Ok(permit) = timeout(LOOK_AGAIN, free.acquire_owned()).await {
                break permit.ok()?;
            }
        };
        let seat = Arc::new(Seat::new(self.clock));
        let mut taken = self.taken();
        taken.last += 1;
        let number = taken.last;
        taken.seats.insert(number, Arc::clone(&seat));
        self.open.inc();
        Some(Slot { number, seat, address, _permit: permit })
    }

    fn count(self: &Arc<Self>, ip: IpAddr) -> Option<AddressCount> {
        let address = (!self.proxies.trusts(ip)).then(|| network(ip));
        if let Some(address) = address {
            let mut taken = self.taken();
            let count = taken.of_address.entry(address).or_default();
            if *count >= self.max_per_address {
                return None;
            }
            *count += 1;
        }
        Some(AddressCount { slots: Arc::clone(self), address })
    }

    fn evict_oldest(&self) {
        let taken = self.taken();
        let idle = taken.seats.values().filter_map(|seat| Some((seat.idle()?, seat)));
        if let Some(((since, age), seat)) = idle.min_by_key(|((since, _), _)| *since)
            && age >= SETTLED
        {
            seat.evict(since);
        }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    pub(super) fn seat(&self) -> &Arc<Seat> {
        &self.seat
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let slots = &self.address.slots;
        slots.taken().seats.remove(&self.number);
        slots.open.dec();
    }
}

impl Drop for AddressCount {
    fn drop(&mut self) {
        let Some(address) = self.address else { return };
        let mut taken = self.slots.taken();
        if let Some(count) = taken.of_address.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                taken.of_address.remove(&address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(max: usize, max_per_address: usize) -> Arc<Slots> {
        let proxies = "10.0.0.0/8".parse().expect("a network");
        Slots::new(max, max_per_address, proxies, Gauge::default())
    }

    /// A connection that holds a slot until it is cut.
    fn hold(slot: Slot) -> Arc<Seat> {
        let seat = Arc::clone(slot.seat());
        let task = tokio::spawn(async move {
            let _slot = slot;
            std::future::pending::<()>().await
        });
        seat.served_by(task.abort_handle());
        seat
    }

    async fn taken(slots: &Arc<Slots>, ip: &str) -> Option<Slot> {
        slots.take(ip.parse().expect("an address")).await
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_has_so_many_and_a_proxy_any_number() {
        let slots = slots(100, 2);
        for (first, second, third) in [
            ("192.0.2.1", "192.0.2.1", "::ffff:192.0.2.1"),
            ("2001:db8::1", "2001:db8::2", "2001:db8::ffff:0:0:3"),
        ] {
            let one = taken(&slots, first).await.expect("the first");
            let _two = taken(&slots, second).await.expect("the second");
            assert!(taken(&slots, third).await.is_none(), "{third} is one too many");
            drop(one);
            let _three = taken(&slots, third).await.expect("there is room again");
        }
        let mut many = vec![taken(&slots, "2001:db8:0:1::1").await.expect("another network")];
        for _ in 0..50 {
            many.push(taken(&slots, "10.1.2.3").await.expect("a proxy"));
        }
        assert_eq!(slots.open.get(), 51);
        drop(many);
        assert_eq!(slots.open.get(), 0);
        assert!(slots.taken().of_address.is_empty(), "nothing is left of who has gone");
        assert!(slots.taken().seats.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_been_idle_for_longest_makes_room() {
        let slots = slots(3, 100);
        let mut seats = Vec::new();
        for _ in 0..3 {
            seats.push(hold(taken(&slots, "192.0.2.1").await.expect("room")));
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        // The first one is busy, and the second one has just been.
        assert!(seats[0].begin());
        assert!(seats[1].begin());
        seats[1].wait();
        tokio::time::sleep(Duration::from_millis(10)).await;
        let started = Instant::now();
        let fourth = hold(taken(&slots, "192.0.2.1").await.expect("room"));
        assert_eq!(started.elapsed(), Duration::ZERO);
        assert!(!seats[2].begin(), "the third takes no further request");
        let fifth = taken(&slots, "192.0.2.1").await.expect("room");
        assert!(started.elapsed() >= SETTLED, "nobody is cut before it could speak");
        assert!(!seats[1].begin(), "then comes the second");
        assert!(seats[0].begin() && fourth.begin());
        drop(fifth);
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_busy_is_waited_for() {
        let slots = slots(1, 100);
        let seat = hold(taken(&slots, "192.0.2.1").await.expect("room"));
        seat.begin();
        let started = Instant::now();
        let busy = async {
            tokio::time::sleep(Duration::from_secs(10)).await;
            seat.wait();
        };
        let (slot, ()) = tokio::join!(taken(&slots, "192.0.2.2"), busy);
        slot.expect("room");
        assert_eq!(started.elapsed().as_secs(), 11);
    }
}
