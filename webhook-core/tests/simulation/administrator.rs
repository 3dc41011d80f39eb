//! Two administrators over one store: each changes what the other one changes at that moment.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::sleep;
use webhook_core::{
    BucketId, Error, ErrorKind, OutputId, Timestamp, TokioClock, Webhooks,
    admin::{Admin, AdminOptions, Caller},
    credentials::AuthSpec,
    model::{BucketSpec, Extension, Health, Output, OutputSpec, PauseRequest},
    store::{Stores, memory::MemoryStore},
};

use crate::{link::Link, node::Seeded};

const START: Timestamp = Timestamp::from_secs(1_700_000_000);
/// How much each of them does.
const CHANGES: usize = 12;

/// What both administrators change.
pub(crate) struct House {
    links: [Arc<Link>; 2],
    admins: [Arc<Admin>; 2],
    caller: Caller,
    bucket: BucketId,
    /// Each change adds a word to its description; the administrator has read the words before.
    list: OutputId,
    /// One administrator writes its health, and the other one its credential.
    settings: OutputId,
    /// How many outputs the bucket may have.
    bound: usize,
    done: Mutex<Done>,
}

/// What administrators were told is done.
#[derive(Default)]
struct Done {
    words: BTreeSet<String>,
    outputs: BTreeSet<String>,
    /// Whether the bucket was said to be full.
    is_full: bool,
    /// The number that each wrote last among the settings, and how often one was written.
    settings: [Option<u64>; 2],
    written: u64,
    /// The reason of the last pause of each administrator: the first one pauses the output of the
    /// list, the second one the output of the settings.
    reasons: [Option<String>; 2],
}

impl House {
    pub(crate) async fn new(seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let clock = TokioClock::starting_at(START);
        let stores = Stores::of(MemoryStore::default());
        let links = [(); 2].map(|()| Link::new(stores.clone(), clock, random.u64(..)));
        let bound = random.usize(4..20);
        let mut options = AdminOptions::default();
        options.max_outputs_per_bucket = bound;
        let admins = [0, 1].map(|index: usize| {
            let webhooks = Webhooks::builder(links[index].stores_of_administrator())
                .clock(clock)
                .random(Seeded::new(random.u64(..)))
                .admin_options(options.clone())
                .build();
            Arc::clone(webhooks.admin())
        });
        let (account, _) = admins[0].create_account("a", None).await.expect("an account");
        let caller = Caller::for_account(account.id);
        let bucket = admins[0].create_bucket(&caller, BucketSpec::new("b")).await;
        let bucket = bucket.expect("a new bucket").id;
        let output = async |name| {
            let made = admins[0].create_output(&caller, bucket, spec(name)).await;
            made.expect("a new output").id
        };
        let (list, settings) = (output("list").await, output("settings").await);
        let done = Mutex::default();
        Self { links, admins, caller, bucket, list, settings, bound, done }
    }

    /// Runs a seed; what did not hold, if anything.
    pub(crate) async fn run(&self, seed: u64) -> Result<(), String> {
        let mut random = fastrand::Rng::with_seed(!seed);
        let is_faulty = random.bool();
        if is_faulty {
            for link in &self.links {
                link.fail(random.u64(..200));
            }
        }
        let [first, second] = [0, 1].map(|index| self.work(index, random.fork()));
        let (first, second) = tokio::join!(first, second);
        first.and(second).map_err(|error| format!("refused: {error}"))?;
        self.links.iter().for_each(|link| link.fail(0));
        self.check(is_faulty).await
    }

    fn done(&self) -> std::sync::MutexGuard<'_, Done> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What one of them does.
    async fn work(&self, index: usize, mut random: fastrand::Rng) -> Result<(), Error> {
        for number in 0..CHANGES {
            sleep(Duration::from_millis(random.u64(..500))).await;
            let name = format!("{index}-{number}");
            match random.u8(..10) {
                0..3 => self.add_word(index, name).await?,
                3..6 => self.set(index, random.u64(1..1_000)).await?,
                6..8 => {
                    let reason = random.bool().then_some(name);
                    self.pause(index, reason).await?;
                }
                _ => self.create_output(index, name).await?,
            }
        }
        Ok(())
    }

    async fn output(&self, index: usize, id: OutputId) -> Result<Output, Error> {
        self.admins[index].output(&self.caller, self.bucket, id).await
    }

    /// Adds a word to the description, and expects the version that it read.
    async fn add_word(&self, index: usize, word: String) -> Result<(), Error> {
        loop {
            let Some(output) = answered(self.output(index, self.list).await)? else { continue };
            // The answer may have been lost.
            if output.spec.description.split_whitespace().any(|other| other == word) {
                break;
            }
            let caller = self.caller.clone().expecting(Some([output.version].into()));
            let mut spec = output.spec;
            spec.description = format!("{} {word}", spec.description);
            let changed = self.admins[index].update_output(&caller, self.bucket, self.list, spec);
            match changed.await {
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                changed => {
                    if answered(changed)?.is_some() {
                        break;
                    }
                }
            }
        }
        self.done().words.insert(word);
        Ok(())
    }

    /// Writes its setting, and knows nothing of the other one's.
    async fn set(&self, index: usize, number: u64) -> Result<(), Error> {
        let mut spec = spec("settings");
        if index == 0 {
            let mut health = Health::default();
            health.notify_after = Duration::from_secs(60 + number);
            spec.health = Extension::Set(health);
        } else {
            let auth = serde_json::json!({"type": "bearer", "token": number.to_string()});
            spec.auth = Extension::Set(serde_json::from_value(auth).expect("a credential"));
        }
        let (admin, caller) = (&self.admins[index], &self.caller);
        let update =
            async || admin.update_output(caller, self.bucket, self.settings, spec.clone()).await;
        until_answered(update).await?;
        let mut done = self.done();
        done.settings[index] = Some(number);
        done.written += 1;
        Ok(())
    }

    /// Pauses its output, or resumes it.
    async fn pause(&self, index: usize, reason: Option<String>) -> Result<(), Error> {
        let (admin, caller, bucket) = (&self.admins[index], &self.caller, self.bucket);
        let id = [self.list, self.settings][index];
        let change = async || match &reason {
            Some(reason) => {
                let mut request = PauseRequest::default();
                request.reason.clone_from(reason);
                admin.pause_output(caller, bucket, id, request).await
            }
            None => admin.resume_output(caller, bucket, id, Default::default()).await,
        };
        until_answered(change).await?;
        self.done().reasons[index] = reason;
        Ok(())
    }

    async fn create_output(&self, index: usize, name: String) -> Result<(), Error> {
        let mut is_repeated = false;
        loop {
            let made = self.admins[index].create_output(&self.caller, self.bucket, spec(&name));
            match made.await {
                Err(error) if error.to_string().contains(" has all of its ") => {
                    // It may be among them when the answer was lost.
                    let bucket = self.admins[index].bucket(&self.caller, self.bucket).await;
                    let Some(bucket) = answered(bucket)? else { continue };
                    self.done().is_full = true;
                    if !bucket.outputs.iter().any(|output| output.spec.name == name) {
                        return Ok(());
                    }
                    break;
                }
                Err(error) if is_repeated && error.kind() == ErrorKind::Conflict => break,
                made => match answered(made)? {
                    Some(_) => break,
                    None => is_repeated = true,
                },
            }
        }
        self.done().outputs.insert(name);
        Ok(())
    }

    /// The store has every change that was acknowledged, and no other change.
    async fn check(&self, is_faulty: bool) -> Result<(), String> {
        let bucket = self.admins[0].bucket(&self.caller, self.bucket).await;
        let bucket = bucket.map_err(|error| error.to_string())?;
        let done = self.done();
        let made = bucket.outputs.iter().filter(|it| ![self.list, self.settings].contains(&it.id));
        let made: BTreeSet<_> = made.map(|output| output.spec.name.clone()).collect();
        same("the outputs", &made, &done.outputs)?;
        let count = bucket.outputs.len();
        if count > self.bound || (done.is_full && count < self.bound) {
            return Err(format!("{count} outputs where {} may be", self.bound));
        }
        let found = |id| bucket.outputs.iter().find(|it| it.id == id).expect("nobody removes it");
        let (list, settings) = (found(self.list), found(self.settings));
        let words = list.spec.description.split_whitespace().map(str::to_owned).collect();
        same("the words", &words, &done.words)?;
        let health = settings.spec.health.set();
        let health = health.map(|health| health.notify_after.as_secs() - 60);
        let auth = settings.spec.auth.set();
        let auth = auth.map(|auth| match auth {
            AuthSpec::Bearer(auth) => auth.token.expose().parse().expect("a number"),
            other => panic!("{other:?}"),
        });
        same("the settings", &[health, auth], &done.settings)?;
        let reason = |output: &Output| output.pauses.all().first().map(|it| it.reason.clone());
        same("the pauses", &[reason(list), reason(settings)], &done.reasons)?;
        if !is_faulty {
            // Nothing was done twice, and a pause makes no version.
            let changes = [done.words.len() as u64, done.written];
            same("the versions", &[list.version - 1, settings.version - 1], &changes)?;
        }
        Ok(())
    }
}

fn spec(name: &str) -> OutputSpec {
    OutputSpec::new(name, "https://example.com/")
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, done: &T) -> Result<(), String> {
    match found == done {
        true => Ok(()),
        false => Err(format!("{what} are {found:?}, and {done:?} was done")),
    }
}

/// None when the connection broke: the change may have happened.
fn answered<T>(answer: Result<T, Error>) -> Result<Option<T>, Error> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.kind() == ErrorKind::Unavailable => Ok(None),
        Err(error) => Err(error),
    }
}

/// Does again what may be done twice.
async fn until_answered<T>(change: impl AsyncFn() -> Result<T, Error>) -> Result<T, Error> {
    loop {
        if let Some(answer) = answered(change().await)? {
            return Ok(answer);
        }
    }
}
