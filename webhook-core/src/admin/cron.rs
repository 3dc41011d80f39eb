//! Crons: each with a bucket of its own, into which its runs are put.

use std::collections::HashMap;

use super::{Admin, Caller, check, output::function_gone};
use crate::{
    cron::Timetable,
    error::Error,
    id::{BucketId, CronId, OutputId},
    model::{Bucket, BucketSpec, Cron, CronSpec, Output, OutputSpec},
    plan::Limited,
    store::{
        ApplyError, Bounds, BucketStore, Change, DocumentKind, Find, Page, Refusal, StateChange,
        again,
    },
};

/// How many buckets are read with one statement, which may have as many values.
const BUCKETS_AT_ONCE: usize = 1_000;
/// The name of the output that leads to a cron's destination.
const OUTPUT_NAME: &str = "Cron destination";

/// A cron with its bucket as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct BucketCron {
    /// The cron.
    pub cron: Cron,
    /// Its bucket; none when it is deleted at this moment, and the cron with it.
    pub bucket: Option<Bucket>,
}

impl Admin {
    /// All crons of the account, in the order they were made.
    pub async fn crons(&self, caller: &Caller) -> Result<Vec<BucketCron>, Error> {
        self.crons_page(caller, Page::ALL).await
    }

    /// A page of the crons of the account, in the order they were made.
    pub async fn crons_page(&self, caller: &Caller, page: Page) -> Result<Vec<BucketCron>, Error> {
        let crons = self.list::<Cron>(caller, page).await?;
        let mut buckets = HashMap::new();
        for some in crons.chunks(BUCKETS_AT_ONCE) {
            let ids = some.iter().map(|cron| cron.bucket_id.as_uuid()).collect();
            let found = Find::These(DocumentKind::Bucket, ids);
            let found = self.stores.documents.search_buckets(found).await?;
            buckets.extend(found.into_iter().map(|bucket| (bucket.id, bucket)));
        }
        let mut with_bucket =
            |cron: Cron| BucketCron { bucket: buckets.remove(&cron.bucket_id), cron };
        Ok(crons.into_iter().map(&mut with_bucket).collect())
    }

    /// One cron of the account.
    pub async fn cron(&self, caller: &Caller, id: CronId) -> Result<BucketCron, Error> {
        caller.require_account()?;
        let cron = self.owned_cron(caller, id).await?;
        let bucket = self.stores.documents.bucket(caller.account_id(), cron.bucket_id).await?;
        Ok(BucketCron { cron, bucket })
    }

    /// Makes a cron and its bucket, both or neither: with a default input, and
    /// an output to the destination that has the function. The bucket has the
    /// cron's name, with a part of the cron's ID where that is taken or empty.
    pub async fn create_cron(
        &self,
        caller: &Caller,
        mut spec: CronSpec,
    ) -> Result<BucketCron, Error> {
        caller.require_account()?;
        let now = self.now();
        let timetable = check::cron(&spec, now, &self.options)?;
        let output = self.output_of(caller, &spec).await?;
        timetable.zone_name().clone_into(&mut spec.timezone);

        let account = caller.account_id();
        let id = self.ids.next();
        let bucket_id = self.ids.next();
        let mut bucket = Bucket::new(bucket_id, account, now, BucketSpec::default());
        bucket.cron_id = Some(id);
        bucket.inputs.push(self.default_input(caller, &bucket));
        let output = self.cron_output(caller, id, bucket_id, output);
        let cron = Cron {
            id,
            account_id: account,
            version: 1,
            created_at: now,
            updated_at: now,
            next_run: timetable.next_after(now).filter(|_| spec.enabled),
            bucket_id,
            input_id: bucket.inputs[0].id,
            output_id: output.id,
            spec,
        };
        bucket.outputs.push(output);
        self.store_cron(caller, &cron, &mut bucket).await?;
        self.tell(|it| it.bucket_changed(&bucket));
        self.tell(|it| it.crons_changed());
        Ok(BucketCron { cron, bucket: Some(bucket) })
    }

    /// Replaces what a caller may write of a cron, and with it the destination
    /// and the function of its output, which is made again if it is gone. An
    /// empty name keeps the old one. The next run stays, unless something
    /// changes that it depends on: then it is the first one from now on.
    pub async fn update_cron(
        &self,
        caller: &Caller,
        id: CronId,
        spec: CronSpec,
    ) -> Result<BucketCron, Error> {
        caller.require_account()?;
        let account = caller.account_id();
        again(|| async {
            let stored = self.owned_cron(caller, id).await?;
            caller.require_version(stored.version)?;
            let timetable = check::cron(&spec, stored.created_at, &self.options)?;
            let output = self.output_of(caller, &spec).await?;
            let bucket = self.stores.documents.bucket(account, stored.bucket_id).await?;
            let mut bucket = bucket.ok_or_else(|| Error::not_found("cron"))?;

            let before = bucket.output(stored.output_id);
            let before = before.map(|output| &*output.spec.destination);
            self.check_loop(caller, bucket.id, &output, before).await?;
            let (output_id, pointed) = self.point_output(caller, &stored, &mut bucket, output)?;
            let mut cron = stored.clone();
            cron.spec = CronSpec { timezone: timetable.zone_name().to_owned(), ..spec.clone() };
            if cron.spec.name.is_empty() {
                cron.spec.name.clone_from(&stored.spec.name);
            }
            cron.updated_at = self.now();
            cron.output_id = output_id;
            cron.next_run = self.next_run(&stored, &cron.spec, &timetable);
            let (known, next_run) = (stored.next_run, cron.next_run);
            let schedule = StateChange::Schedule { cron: id, known, next_run };
            let mut changes = vec![Change::update(account, &cron, stored.version)?];
            changes.extend(pointed);
            changes.push(Change::State(schedule));
            // A run of the cron that comes between makes this stale, too.
            self.stores.documents.apply(&changes).await.map_err(function_gone)?;
            cron.version += 1;
            self.tell(|it| it.bucket_changed(&bucket));
            self.tell(|it| it.crons_changed());
            Ok(BucketCron { cron, bucket: Some(bucket) })
        })
        .await
    }

    /// Removes a cron and its bucket; what still waits for an output of that is
    /// not attempted any more.
    pub async fn delete_cron(&self, caller: &Caller, id: CronId) -> Result<(), Error> {
        caller.require_account()?;
        let cron = self.owned_cron(caller, id).await?;
        let account = caller.account_id();
        let bucket = self.stores.documents.bucket(account, cron.bucket_id).await?;
        let delete =
            Change::delete::<Cron>(account, id.as_uuid()).pinned(caller.pin(cron.version)?);
        // The cron goes with its bucket, too.
        let with_bucket = Change::delete::<Bucket>(account, cron.bucket_id.as_uuid());
        self.stores.documents.apply(&[delete, with_bucket]).await.map_err(|error| match error {
            ApplyError::Refused(Refusal::Missing(_)) => Error::not_found("cron"),
            error => error.into(),
        })?;
        if let Some(bucket) = bucket {
            self.tell(|it| it.bucket_changed(&bucket));
        }
        Ok(())
    }

    async fn owned_cron(&self, caller: &Caller, id: CronId) -> Result<Cron, Error> {
        let cron = self.stores.documents.get(caller.account_id(), id.as_uuid()).await?;
        cron.ok_or_else(|| Error::not_found("cron"))
    }

    /// The output that a cron asks for, checked.
    async fn output_of(&self, caller: &Caller, spec: &CronSpec) -> Result<OutputSpec, Error> {
        let output = OutputSpec {
            name: OUTPUT_NAME.to_owned(),
            destination: spec.destination.clone(),
            function_id: spec.function_id,
            ..OutputSpec::default()
        };
        check::output(&output, self.now(), &self.relay.destinations)?;
        self.check_function(caller, "function_id", spec.function_id).await?;
        Ok(output)
    }

    fn cron_output(
        &self,
        caller: &Caller,
        cron: CronId,
        bucket_id: BucketId,
        spec: OutputSpec,
    ) -> Output {
        let mut output = Output::new(self.ids.next(), bucket_id, self.now(), spec);
        output.created_by = caller.label();
        output.cron_id = Some(cron);
        output
    }

    /// Makes the cron's output lead where `wanted` says, and nothing else of it; the change.
    fn point_output(
        &self,
        caller: &Caller,
        cron: &Cron,
        bucket: &mut Bucket,
        wanted: OutputSpec,
    ) -> Result<(OutputId, Option<Change>), Error> {
        let (account, now) = (caller.account_id(), self.now());
        let output = bucket.outputs.iter_mut().find(|output| output.id == cron.output_id);
        let Some(output) = output else {
            let mut output = self.cron_output(caller, cron.id, bucket.id, wanted);
            let names = |name: &str| bucket.outputs.iter().any(|other| other.spec.name == name);
            if names(&output.spec.name) {
                output.spec.name = format!("{OUTPUT_NAME} {}", output.id);
            }
            let create = Change::create(account, &output, Bounds::NONE)?;
            let id = output.id;
            bucket.outputs.push(output);
            return Ok((id, Some(create)));
        };
        let OutputSpec { destination, function_id, .. } = wanted;
        if (&output.spec.destination, output.spec.function_id) == (&destination, function_id) {
            return Ok((output.id, None));
        }
        output.spec.destination = destination;
        output.spec.function_id = function_id;
        output.updated_at = now;
        let update = Change::update(account, output, output.version)?;
        output.version += 1;
        Ok((output.id, Some(update)))
    }

    fn next_run(
        &self,
        stored: &Cron,
        spec: &CronSpec,
        timetable: &Timetable,
    ) -> Option<crate::Timestamp> {
        let timing = |spec: &CronSpec| {
            let CronSpec { enabled, recurring, starts_at, ends_at, .. } = *spec;
            (enabled, recurring, starts_at, ends_at)
        };
        let old = &stored.spec;
        let same = timing(old) == timing(spec)
            && (&old.schedule, &old.timezone) == (&spec.schedule, &spec.timezone);
        if same {
            return stored.next_run;
        }
        timetable.next_after(self.now()).filter(|_| spec.enabled)
    }

    /// Stores a new cron, with a name for its bucket that is free.
    async fn store_cron(
        &self,
        caller: &Caller,
        cron: &Cron,
        bucket: &mut Bucket,
    ) -> Result<(), Error> {
        let id = cron.id.to_string();
        // The last digits are random.
        let tail = id.rsplit('-').next().unwrap_or(&id);
        let name = &cron.spec.name;
        if !name.is_empty() {
            bucket.spec.name.clone_from(name);
            if self.try_to_store_cron(caller, cron, bucket).await? {
                return Ok(());
            }
        }
        let room = crate::model::config::MAX_NAME.saturating_sub(tail.len() + 1);
        let start = name.floor_char_boundary(room);
        let start = if start == 0 { "cron" } else { &name[..start] };
        bucket.spec.name = format!("{start}-{tail}");
        match self.try_to_store_cron(caller, cron, bucket).await? {
            true => Ok(()),
            false => Err(Error::conflict("name: another bucket has it")),
        }
    }

    /// Whether it was stored: the name of its bucket was free.
    async fn try_to_store_cron(
        &self,
        caller: &Caller,
        cron: &Cron,
        bucket: &Bucket,
    ) -> Result<bool, Error> {
        let (most, most_buckets) =
            (self.options.max_crons_per_account, self.options.max_buckets_per_account);
        let full = Error::invalid("crons", format!("the account has all of its {most}"));
        let (crons, full) = self.bound(caller, Limited::Crons, most, full).await?;
        // Of two bounds that are reached, that of crons is told.
        let counts = self.stores.documents.counts(cron.account_id).await?;
        if counts.iter().any(|(kind, count)| *kind == DocumentKind::Cron && *count >= crons) {
            return Err(full);
        }
        let bounds = |in_account| Bounds { in_account, ..Bounds::NONE };
        let buckets = bounds(most_buckets as u64);
        let mut changes = Change::create_bucket(bucket, buckets, Bounds::NONE)?;
        changes.push(Change::create(cron.account_id, cron, bounds(crons))?);
        match self.stores.documents.apply(&changes).await {
            Ok(()) => Ok(true),
            Err(ApplyError::Refused(Refusal::NameTaken(_))) => Ok(false),
            Err(ApplyError::Refused(Refusal::AccountFull(DocumentKind::Cron))) => Err(full),
            Err(ApplyError::Refused(Refusal::AccountFull(_))) => {
                let reason =
                    format!("the account has all of its {most_buckets}, and a cron needs one");
                Err(Error::invalid("buckets", reason))
            }
            Err(error) => Err(function_gone(error).into()),
        }
    }
}
