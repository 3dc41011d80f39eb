//! States that take too long to make over HTTP: a million logs, a backlog of a
//! million deliveries, a hundred thousand inputs. They are written through
//! `webhook-storage`, as the server would have written them, and kept for later
//! runs until the schema changes.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use benches::event;
use futures_util::{StreamExt, TryStreamExt, stream};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::{Value, json};
use webhook_core::{
    AccountId, BucketId, DeliveryId, InputId, NodeId, OutputId, Timestamp, WebhookId, Webhooks,
    model::{Bucket, DeliveryStatus, OutputSpec, Request, Secret, Webhook},
    store::{
        Accept, BucketStore, Configured, DeliveryStore, DocumentStore, Find, NewDelivery,
        OutputStore, Stores,
    },
};
use webhook_storage::{DatabaseUrl, SecretKey, Storage, StorageOptions};

use crate::{
    Outcome,
    api::{key_of, text},
    options::Context,
    part::generator::Plan,
    subject::server::Server,
};

/// Raised when the states that are written here change.
const VERSION: u32 = 1;
/// Calls of the store at once: enough to fill its commits.
const AT_ONCE: usize = 2_048;
/// Bodies of seeded webhooks.
const BODY_BYTES: usize = 256;
/// Inputs of each bucket of `Seed::Inputs`, as many as the server allows unless told otherwise.
const INPUTS_OF_A_BUCKET: usize = 100;
/// How far back logs go.
pub(crate) const DAYS: i64 = 20;
/// Accounts of `Seed::Archives`.
pub(crate) const ARCHIVES: usize = 5;
/// How old a state may be, so that its logs are still of the last 30 days.
const MOST_AGE: Duration = Duration::from_secs(7 * 24 * 3600);

/// The headers of every webhook that is sent or stored, 12 with those that the
/// connection adds.
pub(crate) fn headers() -> Vec<(String, String)> {
    [
        ("host", "127.0.0.1"),
        ("user-agent", "GitHub-Hookshot/0000000"),
        ("accept", "*/*"),
        ("accept-encoding", "gzip, deflate"),
        ("content-type", "application/json"),
        ("x-github-delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958"),
        ("x-github-event", "push"),
        ("x-github-hook-id", "292430182"),
        ("x-github-hook-installation-target-id", "79929171"),
        ("x-github-hook-installation-target-type", "repository"),
        ("x-hub-signature-256", "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

/// Whose webhooks they are.
#[derive(Debug)]
pub(crate) struct Sender {
    account: AccountId,
    bucket: BucketId,
    input: InputId,
    output: OutputId,
    headers: HeaderMap,
}

impl Sender {
    /// An account that no server knows, with so many buckets of one input and one output.
    pub(crate) fn buckets(count: usize) -> Vec<Self> {
        let account = AccountId::generate();
        let sender = |_| Self {
            account,
            bucket: BucketId::generate(),
            input: InputId::generate(),
            output: OutputId::generate(),
            headers: header_map(),
        };
        (0..count).map(sender).collect()
    }

    fn of(bucket: &Bucket) -> Outcome<Self> {
        let (input, output) = (bucket.inputs.first(), bucket.outputs.first());
        Ok(Self {
            account: bucket.account_id,
            bucket: bucket.id,
            input: input.ok_or("the bucket has no input")?.id,
            output: output.ok_or("the bucket has no output")?.id,
            headers: header_map(),
        })
    }

    /// A webhook with a delivery that is to be attempted.
    pub(crate) fn pending(&self, body: Vec<u8>) -> Accept {
        self.webhook(body, DeliveryStatus::Received, now())
    }

    /// The same, which `node` attempts from the start, as a relay stores it.
    pub(crate) fn held(&self, body: Vec<u8>, node: NodeId) -> Accept {
        let mut accept = self.pending(body);
        for delivery in &mut accept.deliveries {
            delivery.held_by = Some(node);
        }
        accept
    }

    fn webhook(&self, body: Vec<u8>, status: DeliveryStatus, received_at: Timestamp) -> Accept {
        let request = Request::new(Method::POST, self.headers.clone(), body.into());
        let place = (self.account, self.bucket, self.input);
        let webhook = Webhook::new(WebhookId::generate(), place, request, received_at);
        let mut delivery = NewDelivery::new(
            DeliveryId::generate(),
            Some(self.output),
            (!status.is_final()).then_some(received_at),
        );
        delivery.status = status;
        Accept::new(Arc::new(webhook), vec![delivery])
    }
}

fn header_map() -> HeaderMap {
    let entry = |(name, value): (String, String)| {
        Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?))
    };
    headers().into_iter().filter_map(entry).collect()
}

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Opens the database of a data folder, as the server does.
pub(crate) async fn open(folder: &Path) -> Outcome<Storage> {
    let key = SecretKey::load_or_create(folder.join("secret.key"))?;
    let url = DatabaseUrl::Sqlite(folder.join("webhooks.db"));
    Ok(Storage::connect(&StorageOptions::new(url, key)).await?)
}

/// What a data folder can be filled with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seed {
    /// Deliveries to be attempted, with events from 0 on.
    Backlog,
    /// Logs of what was sent, of the last weeks; one of 50 has failed.
    Logs,
    /// The same in a bucket of each of five accounts, whose keys [`key_of`] knows.
    Archives,
    /// Buckets with many inputs and one output each.
    Inputs,
    /// Buckets with one input and one output each.
    Buckets,
}

/// A data folder with a state in it: `bucket`, `input` and `output` are what
/// the first bucket has.
#[derive(Debug)]
pub(crate) struct Seeded {
    folder: PathBuf,
    pub(crate) bucket: Value,
    /// Every input of `Seed::Inputs` and `Seed::Buckets`.
    pub(crate) inputs: Vec<String>,
}

impl Seed {
    /// The state with so many rows, made unless it is there.
    pub(crate) fn make(self, context: &Context, rows: usize) -> Outcome<Seeded> {
        let draft = context.scratch()?;
        let bucket = {
            let server = Server::start(context, draft.path(), &[])?;
            let (bucket, _) = server.api.bucket("seeded")?;
            let output = json!({ "name": "sink", "destination": "http://127.0.0.1:9/0" });
            server.api.output(&bucket, &output)?;
            bucket
        };
        let name = format!("{self:?}-{rows}-{:016x}", schema(draft.path())?).to_lowercase();
        let folder = context.folder.join(name);
        let note = folder.join("seeded.json");
        let age = fs::metadata(&note).and_then(|note| note.modified());
        if !age.is_ok_and(|made| made.elapsed().is_ok_and(|age| age < MOST_AGE)) {
            eprintln!("seeding {}", folder.display());
            let runtime = tokio::runtime::Runtime::new()?;
            let inputs = runtime.block_on(self.fill(draft.path(), text(&bucket["id"])?, rows))?;
            let written = json!({ "bucket": bucket, "inputs": inputs });
            fs::write(draft.path().join("seeded.json"), written.to_string())?;
            let _ = fs::remove_dir_all(&folder);
            fs::rename(draft.keep(), &folder)?;
        }
        let written: Value = serde_json::from_slice(&fs::read(note)?)?;
        let inputs = serde_json::from_value(written["inputs"].clone())?;
        Ok(Seeded { folder, bucket: written["bucket"].clone(), inputs })
    }

    async fn fill(self, folder: &Path, bucket: &str, rows: usize) -> Outcome<Vec<String>> {
        let storage = open(folder).await?;
        let account = owner(&storage, bucket.parse()?).await?;
        let bucket = storage.bucket(account, bucket.parse()?).await?.ok_or("no bucket")?;
        let inputs = match self {
            Self::Inputs => inputs(&storage, &bucket, rows, INPUTS_OF_A_BUCKET).await?,
            Self::Buckets => inputs(&storage, &bucket, rows, 1).await?,
            Self::Backlog | Self::Logs => {
                self.accept(&storage, &Sender::of(&bucket)?, rows).await?;
                Vec::new()
            }
            Self::Archives => {
                self.accept(&storage, &Sender::of(&bucket)?, rows).await?;
                for number in 1..ARCHIVES {
                    let bucket = archive(&storage, number, &bucket).await?;
                    self.accept(&storage, &Sender::of(&bucket)?, rows).await?;
                }
                Vec::new()
            }
        };
        storage.close().await;
        Ok(inputs)
    }

    /// Stores so many webhooks of one sender.
    async fn accept(self, storage: &Storage, sender: &Sender, rows: usize) -> Outcome<()> {
        let newest = now();
        let accepts = (0..rows).map(|row| {
            let mut body = event::body(BODY_BYTES);
            event::number(&mut body, 0, row as u64);
            match self {
                Self::Backlog => sender.pending(body),
                _ => {
                    let status = match row % 50 {
                        0 => DeliveryStatus::Failed,
                        _ => DeliveryStatus::Sent,
                    };
                    let span = DAYS * 24 * 3_600_000;
                    let before = span - span * row as i64 / rows as i64;
                    let at = Timestamp::from_millis(newest.as_millis() - before);
                    sender.webhook(body, status, at)
                }
            }
        });
        let stored = stream::iter(accepts)
            .map(|accept| storage.accept(accept))
            .buffer_unordered(AT_ONCE)
            .try_for_each(|_| std::future::ready(Ok(())));
        Ok(stored.await?)
    }
}

/// Makes one more account with a bucket that is like `first`.
async fn archive(storage: &Storage, number: usize, first: &Bucket) -> Outcome<Bucket> {
    let webhooks = Webhooks::builder(Stores::of(storage.clone())).build();
    let key = Secret::new(key_of(number));
    let name = format!("account-{number}");
    let (account, _) = webhooks.admin().create_account(&name, Some(key)).await?;
    let mut bucket = Bucket { id: BucketId::generate(), account_id: account.id, ..first.clone() };
    for input in &mut bucket.inputs {
        (input.id, input.bucket_id) = (InputId::generate(), bucket.id);
    }
    for output in &mut bucket.outputs {
        (output.id, output.bucket_id) = (OutputId::generate(), bucket.id);
    }
    storage.create_bucket(&bucket).await?;
    Ok(bucket)
}

/// Stores buckets that are like `first`, with so many inputs together and at most so many in each.
async fn inputs(
    storage: &Storage,
    first: &Bucket,
    rows: usize,
    of_a_bucket: usize,
) -> Outcome<Vec<String>> {
    let (input, output) = (&first.inputs[0], &first.outputs[0]);
    let mut all = Vec::with_capacity(rows);
    for number in 0..rows.div_ceil(of_a_bucket) {
        let mut bucket = Bucket { id: BucketId::generate(), ..first.clone() };
        bucket.spec.name = format!("bucket-{number}");
        let of_this = of_a_bucket.min(rows - all.len());
        bucket.inputs = (0..of_this)
            .map(|_| {
                let mut input = input.clone();
                (input.id, input.bucket_id) = (InputId::generate(), bucket.id);
                all.push(input.id.to_string());
                input
            })
            .collect();
        let mut output = output.clone();
        (output.id, output.bucket_id) = (OutputId::generate(), bucket.id);
        bucket.outputs = vec![output];
        storage.create_bucket(&bucket).await?;
    }
    Ok(all)
}

impl Seeded {
    /// Makes `folder` a copy whose outputs deliver to `destination`.
    pub(crate) fn copy_to(&self, folder: &Path, destination: &str) -> Outcome<()> {
        self.copy_with(folder, |spec| destination.clone_into(&mut spec.destination))
    }

    /// Makes `folder` a copy with other outputs.
    pub(crate) fn copy_with(&self, folder: &Path, change: impl Fn(&mut OutputSpec)) -> Outcome<()> {
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            fs::copy(entry.path(), folder.join(entry.file_name()))?;
        }
        let bucket: BucketId = text(&self.bucket["id"])?.parse()?;
        tokio::runtime::Runtime::new()?.block_on(async {
            let storage = open(folder).await?;
            let account = owner(&storage, bucket).await?;
            for bucket in storage.buckets(account).await? {
                for mut output in bucket.outputs {
                    change(&mut output.spec);
                    storage.update_output(account, &output).await?;
                }
            }
            storage.close().await;
            Ok(())
        })
    }
}

/// Tells states of different schemas apart.
fn schema(folder: &Path) -> Outcome<u64> {
    let database = rusqlite::Connection::open(folder.join("webhooks.db"))?;
    let mut statement = database.prepare("SELECT sql FROM sqlite_master ORDER BY name")?;
    let rows = statement.query_map([], |row| row.get::<_, Option<String>>(0))?;
    let schema: Vec<_> = rows.collect::<Result<_, _>>()?;
    let mut hasher = DefaultHasher::new();
    (VERSION, schema).hash(&mut hasher);
    Ok(hasher.finish())
}

/// A plan that sends events of so many bytes to `paths` for as long as `lasts`.
pub(crate) fn events(
    address: std::net::SocketAddr,
    paths: Vec<String>,
    bytes: usize,
    lasts: Duration,
) -> Plan {
    Plan {
        address,
        method: "POST".to_owned(),
        paths,
        headers: headers(),
        body: crate::part::generator::Body::Event(bytes),
        first: 0,
        secret: None,
        connections: 64,
        lasts,
        rate: None,
        ledger: None,
    }
}

/// The account that a bucket belongs to.
async fn owner(storage: &Storage, bucket: BucketId) -> Outcome<AccountId> {
    let found = storage.find(Find::Any(Bucket::key(bucket.as_uuid()))).await?;
    Ok(found.first().ok_or("no such bucket")?.account_id)
}
