//! Messages that who carries them can neither read nor make.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::wire::id::NodeId;
use async_trait::async_trait;
use bytes::{BufMut, Bytes, BytesMut};
use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    hkdf::{HKDF_SHA256, Salt},
    rand::{SecureRandom, SystemRandom},
};

use crate::cluster::broadcast::{Broadcast, Inbox, MAX_MESSAGE_BYTES, To};

/// The first byte of what is sealed this way; messages with another one are for later programs.
const VERSION: u8 = 1;
/// What tells a process from the others.
const PROCESS_BYTES: usize = 16;
/// Before what is sealed: the version, the process, the number of the message.
const HEAD_BYTES: usize = 1 + PROCESS_BYTES + 8;
/// How many processes are remembered; the one that was heard longest ago makes room.
const PROCESSES: usize = 1_024;
/// How many numbers back a message may come late.
const WINDOW: u64 = 1_024;

/// A [`Broadcast`] that seals what another one carries: whoever can reach that one neither
/// reads nor makes messages, nor has one delivered to another node or twice to the same one.
///
/// Messages are encrypted with ChaCha20-Poly1305 (RFC 8439). Each process has a key of its own,
/// which HKDF (RFC 5869) derives from the cluster's key and 16 random bytes; the nonce is the
/// number of the message, so that none is used twice. Who gets the message is authenticated
/// with it.
pub struct Sealed {
    carrier: Arc<dyn Broadcast>,
    cluster: Arc<[u8; 32]>,
    process: [u8; PROCESS_BYTES],
    key: LessSafeKey,
    number: AtomicU64,
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealed").field("carrier", &self.carrier).finish_non_exhaustive()
    }
}

/// No key could be made: the system has no randomness to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyError;

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the system's source of randomness failed")
    }
}

impl std::error::Error for KeyError {}

impl Sealed {
    /// Seals what `carrier` carries with the key that all nodes of the cluster have.
    ///
    /// # Errors
    ///
    /// When the system has no randomness to give.
    pub fn new(carrier: Arc<dyn Broadcast>, cluster: [u8; 32]) -> Result<Self, KeyError> {
        let mut process = [0; PROCESS_BYTES];
        SystemRandom::new().fill(&mut process).map_err(|_| KeyError)?;
        let key = key_of(&cluster, &process).ok_or(KeyError)?;
        Ok(Self { carrier, cluster: Arc::new(cluster), process, key, number: AtomicU64::new(1) })
    }

    fn seal(&self, to: To, message: &[u8]) -> Option<Bytes> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let length = HEAD_BYTES + message.len() + CHACHA20_POLY1305.tag_len();
        if length > MAX_MESSAGE_BYTES {
            return None;
        }
        let mut sealed = BytesMut::with_capacity(length);
        sealed.put_u8(VERSION);
        sealed.put_slice(&self.process);
        sealed.put_u64(number);
        let aad = authenticated(&sealed, to);
        sealed.put_slice(message);
        let content = &mut sealed[HEAD_BYTES..];
        let tag =
            self.key.seal_in_place_separate_tag(nonce(number), Aad::from(aad), content).ok()?;
        sealed.put_slice(tag.as_ref());
        Some(sealed.freeze())
    }
}

impl Broadcast for Sealed {
    fn publish(&self, to: To, message: Bytes) {
        match self.seal(to, &message) {
            Some(sealed) => self.carrier.publish(to, sealed),
            None => tracing::warn!(bytes = message.len(), "a message is too long to be sealed"),
        }
    }

    fn subscribe(&self, node: NodeId) -> Box<dyn Inbox> {
        let inbox = self.carrier.subscribe(node);
        let opener = Opener { cluster: Arc::clone(&self.cluster), processes: Mutex::default() };
        Box::new(Opened { inbox, opener, refused: 0 })
    }

    fn is_connected(&self) -> bool {
        self.carrier.is_connected()
    }
}

fn key_of(cluster: &[u8; 32], process: &[u8; PROCESS_BYTES]) -> Option<LessSafeKey> {
    let secret = Salt::new(HKDF_SHA256, process).extract(cluster);
    let info = [b"webhook-cluster messages".as_slice(), &[VERSION]];
    let key = secret.expand(&info, &CHACHA20_POLY1305).ok()?;
    Some(LessSafeKey::new(UnboundKey::from(key)))
}

fn nonce(number: u64) -> Nonce {
    let mut nonce = [0; NONCE_LEN];
    nonce[NONCE_LEN - 8..].copy_from_slice(&number.to_be_bytes());
    Nonce::assume_unique_for_key(nonce)
}

/// What nobody may change: the head, and whom the message is for.
fn authenticated(head: &[u8], to: To) -> Vec<u8> {
    let mut aad = head.to_vec();
    match to {
        To::All => aad.push(0),
        To::Node(node) => {
            aad.push(1);
            aad.extend_from_slice(node.as_uuid().as_bytes());
        }
    }
    aad
}

/// Messages as they were before they were sealed.
#[derive(Debug)]
struct Opened {
    inbox: Box<dyn Inbox>,
    opener: Opener,
    refused: u64,
}

#[async_trait]
impl Inbox for Opened {
    async fn next(&mut self) -> Option<(To, Bytes)> {
        loop {
            let (to, sealed) = self.inbox.next().await?;
            // Of a later version.
            if sealed.first() != Some(&VERSION) {
                continue;
            }
            match self.opener.open(to, sealed) {
                Ok(message) => return Some((to, message)),
                Err(Refused::Known) => {}
                Err(Refused::Forged) => {
                    self.refused += 1;
                    // The first one, and then ever fewer of them.
                    if self.refused.is_power_of_two() {
                        let count = self.refused;
                        tracing::warn!(
                            count,
                            "messages were refused that another secret key sealed, or none"
                        );
                    }
                }
            }
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Refused {
    /// It was not sealed with the cluster's key, or was changed.
    Forged,
    /// It came before, or so late that nobody knows.
    Known,
}

struct Opener {
    cluster: Arc<[u8; 32]>,
    processes: Mutex<Processes>,
}

/// Those that were heard.
#[derive(Default)]
struct Processes {
    known: HashMap<[u8; PROCESS_BYTES], Process>,
    /// How many messages came.
    messages: u64,
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opener").finish_non_exhaustive()
    }
}

/// A process whose messages came.
struct Process {
    key: LessSafeKey,
    seen: Seen,
    /// Which of all messages was its last.
    heard: u64,
}

impl Opener {
    fn open(&self, to: To, sealed: Bytes) -> Result<Bytes, Refused> {
        let (head, content) = sealed.split_at_checked(HEAD_BYTES).ok_or(Refused::Forged)?;
        let (process, number) = head[1..].split_at(PROCESS_BYTES);
        let process: [u8; PROCESS_BYTES] = process.try_into().map_err(|_| Refused::Forged)?;
        let number = u64::from_be_bytes(number.try_into().map_err(|_| Refused::Forged)?);
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        let Processes { known: all, messages } = &mut *processes;
        let known = all.get(&process);
        let new = match known {
            Some(known) if known.seen.contains(number) => return Err(Refused::Known),
            Some(_) => None,
            None => Some(key_of(&self.cluster, &process).ok_or(Refused::Forged)?),
        };
        let key = new.as_ref().or(known.map(|known| &known.key)).ok_or(Refused::Forged)?;
        let mut content = content.to_vec();
        let aad = Aad::from(authenticated(head, to));
        let length =
            key.open_in_place(nonce(number), aad, &mut content).map_err(|_| Refused::Forged)?.len();
        content.truncate(length);
        *messages += 1;
        if let Some(key) = new {
            let oldest = all.iter().min_by_key(|(_, known)| known.heard).map(|(oldest, _)| *oldest);
            if let Some(oldest) = oldest.filter(|_| all.len() >= PROCESSES) {
                all.remove(&oldest);
            }
            all.insert(process, Process { key, seen: Seen::default(), heard: *messages });
        }
        if let Some(known) = all.get_mut(&process) {
            known.seen.insert(number);
            known.heard = *messages;
        }
        Ok(content.into())
    }
}

/// Which numbers came: the greatest, and those shortly before it.
#[derive(Debug, Default)]
struct Seen {
    greatest: u64,
    /// One bit for each number of the window, at its remainder.
    bits: [u64; (WINDOW / 64) as usize],
}

impl Seen {
    fn place(number: u64) -> (usize, u64) {
        let place = number % WINDOW;
        ((place / 64) as usize, 1 << (place % 64))
    }

    fn contains(&self, number: u64) -> bool {
        let (word, bit) = Self::place(number);
        number <= self.greatest && (self.greatest - number >= WINDOW || self.bits[word] & bit != 0)
    }

    fn insert(&mut self, number: u64) {
        if number > self.greatest {
            if number - self.greatest >= WINDOW {
                self.bits.fill(0);
            } else {
                for passed in self.greatest + 1..number {
                    let (word, bit) = Self::place(passed);
                    self.bits[word] &= !bit;
                }
            }
            self.greatest = number;
        }
        let (word, bit) = Self::place(number);
        self.bits[word] |= bit;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cluster::Local;

    const KEY: [u8; 32] = [7; 32];

    /// What came through the carrier by itself.
    async fn carried(inbox: &mut Box<dyn Inbox>) -> (To, Bytes) {
        inbox.next().await.expect("a message")
    }

    fn opener(key: [u8; 32]) -> Opener {
        Opener { cluster: Arc::new(key), processes: Mutex::default() }
    }

    #[tokio::test]
    async fn who_has_the_key_reads_and_nobody_else() {
        let (carrier, node) = (Local::default(), NodeId::generate());
        let mut raw = carrier.subscribe(node);
        let sender = Sealed::new(Arc::new(carrier.clone()), KEY).expect("a key");
        let mut inbox = sender.subscribe(node);
        sender.publish(To::Node(node), Bytes::from_static(b"a secret"));
        assert_eq!(inbox.next().await, Some((To::Node(node), Bytes::from_static(b"a secret"))));

        let (to, sealed) = carried(&mut raw).await;
        assert!(!sealed.windows(6).any(|window| window == b"secret"));
        assert_eq!(opener(KEY).open(to, sealed.clone()), Ok(Bytes::from_static(b"a secret")));
        assert_eq!(opener([8; 32]).open(to, sealed.clone()), Err(Refused::Forged));
        // For another node, or for all.
        for other in [To::All, To::Node(NodeId::generate())] {
            assert_eq!(opener(KEY).open(other, sealed.clone()), Err(Refused::Forged));
        }
        for index in 0..sealed.len() {
            let mut changed = sealed.to_vec();
            changed[index] ^= 1;
            assert!(opener(KEY).open(to, changed.into()).is_err(), "byte {index}");
        }
    }

    #[tokio::test]
    async fn what_is_doubled_or_of_another_version_or_forged_is_left_out() {
        let (carrier, node) = (Local::default(), NodeId::generate());
        let mut raw = carrier.subscribe(NodeId::generate());
        let sender = Sealed::new(Arc::new(carrier.clone()), KEY).expect("a key");
        let mut inbox = sender.subscribe(node);
        sender.publish(To::All, Bytes::from_static(b"first"));
        let (_, sealed) = carried(&mut raw).await;
        carrier.publish(To::All, sealed.clone());
        let mut later = sealed.to_vec();
        later[0] = 2;
        carrier.publish(To::All, later.into());
        carrier.publish(To::All, Bytes::new());
        carrier.publish(To::All, Bytes::from_static(b"\x01short"));
        sender.publish(To::All, Bytes::from_static(b"second"));
        assert_eq!(carried(&mut inbox).await.1, "first");
        assert_eq!(carried(&mut inbox).await.1, "second");
        // One that is longer than any is not even carried.
        sender.publish(To::All, Bytes::from(vec![0; MAX_MESSAGE_BYTES]));
        sender.publish(To::All, Bytes::from_static(b"third"));
        assert_eq!(carried(&mut inbox).await.1, "third");
    }

    #[test]
    fn so_many_processes_are_remembered() {
        let opener = opener(KEY);
        let mut inbox = Vec::new();
        for _ in 0..PROCESSES + 3 {
            let sender = Sealed::new(Arc::new(Local::default()), KEY).expect("a key");
            inbox.push(sender.seal(To::All, b"here").expect("short"));
        }
        for sealed in inbox {
            assert_eq!(opener.open(To::All, sealed), Ok(Bytes::from_static(b"here")));
        }
        assert_eq!(opener.processes.lock().expect("no panic").known.len(), PROCESSES);
    }

    proptest! {
        #[test]
        fn each_number_passes_once(numbers in prop::collection::vec(0..3 * WINDOW, 0..200)) {
            let (mut seen, mut all) = (Seen::default(), std::collections::HashSet::new());
            // No message has the number 0.
            seen.insert(0);
            all.insert(0);
            for number in numbers {
                let is_new = !seen.contains(number);
                prop_assert!(!(is_new && all.contains(&number)));
                let greatest = all.iter().max().copied().unwrap_or_default();
                prop_assert!(is_new || all.contains(&number) || greatest - number >= WINDOW);
                if is_new {
                    seen.insert(number);
                    all.insert(number);
                }
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            prop_assert!(opener(KEY).open(To::All, bytes.into()).is_err());
        }
    }
}
