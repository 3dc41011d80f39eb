//! Crons: each with a bucket of its own, into which its runs are put.

use super::{Admin, Caller, DEFAULT_INPUT_NAME, check};
use crate::{
    cron::Timetable,
    error::{Error, ErrorKind},
    id::{BucketId, CronId, OutputId},
    model::{Bucket, BucketSpec, Cron, CronSpec, Input, InputSpec, Output, OutputSpec},
    plan::Limited,
};

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
        caller.require_account()?;
        let crons = self.stores.crons.crons(caller.account_id()).await?;
        if crons.is_empty() {
            return Ok(Vec::new());
        }
        let mut buckets = self.stores.buckets.buckets(caller.account_id()).await?;
        let mut take = |id| {
            let place = buckets.iter().position(|bucket| bucket.id == id)?;
            Some(buckets.swap_remove(place))
        };
        Ok(crons
            .into_iter()
            .map(|cron| BucketCron { bucket: take(cron.bucket_id), cron })
            .collect())
    }

    /// One cron of the account.
    pub async fn cron(&self, caller: &Caller, id: CronId) -> Result<BucketCron, Error> {
        caller.require_account()?;
        let cron = self.owned_cron(caller, id).await?;
        let bucket = self.stores.buckets.bucket(caller.account_id(), cron.bucket_id).await?;
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
        let _guard = self.lock(account.as_uuid()).await;
        let limit = self.options.max_crons_per_account;
        if self.stores.crons.crons(account).await?.len() >= limit {
            return Err(Error::invalid("crons", format!("the account has all of its {limit}")));
        }
        let count = async { Ok(self.stores.crons.crons(account).await?.len() as u64) };
        let _room = self.room(caller, Limited::Crons, count).await?;
        let limit = self.options.max_buckets_per_account;
        if self.stores.buckets.buckets(account).await?.len() >= limit {
            let reason = format!("the account has all of its {limit}, and a cron needs one");
            return Err(Error::invalid("buckets", reason));
        }

        let id = self.ids.next();
        let bucket_id = self.ids.next();
        let mut bucket = Bucket::new(bucket_id, account, now, BucketSpec::default());
        bucket.cron_id = Some(id);
        bucket.inputs.push(Input {
            id: self.ids.unguessable(),
            bucket_id,
            created_at: now,
            updated_at: now,
            created_by: caller.label(),
            spec: InputSpec { name: DEFAULT_INPUT_NAME.to_owned(), ..InputSpec::default() },
        });
        let output = self.cron_output(caller, id, bucket_id, output);
        let cron = Cron {
            id,
            account_id: account,
            created_at: now,
            updated_at: now,
            next_run: timetable.next_after(now).filter(|_| spec.enabled),
            bucket_id,
            input_id: bucket.inputs[0].id,
            output_id: output.id,
            spec,
        };
        bucket.outputs.push(output);
        self.store_cron(&cron, &mut bucket).await?;
        self.listeners.bucket_changed(&bucket);
        self.listeners.crons_changed();
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
        mut spec: CronSpec,
    ) -> Result<BucketCron, Error> {
        caller.require_account()?;
        let bucket_id = self.owned_cron(caller, id).await?.bucket_id;
        let _guard = self.lock(bucket_id.as_uuid()).await;
        loop {
            let stored = self.owned_cron(caller, id).await?;
            let timetable = check::cron(&spec, stored.created_at, &self.options)?;
            let output = self.output_of(caller, &spec).await?;
            timetable.zone_name().clone_into(&mut spec.timezone);
            let bucket = self.stores.buckets.bucket(caller.account_id(), bucket_id).await?;
            let mut bucket = bucket.ok_or_else(|| Error::not_found("cron"))?;

            let before = bucket.outputs.iter().find(|it| it.id == stored.output_id);
            let before = before.map(|output| &*output.spec.destination);
            self.check_loop(caller, bucket_id, &output, before).await?;
            let output_id = self.point_output(caller, &stored, &mut bucket, output).await?;
            let mut cron = stored.clone();
            cron.spec = spec.clone();
            if cron.spec.name.is_empty() {
                cron.spec.name.clone_from(&stored.spec.name);
            }
            cron.updated_at = self.now();
            cron.output_id = output_id;
            cron.next_run = self.next_run(&stored, &cron.spec, &timetable);
            // Otherwise a run came in between.
            if self.stores.crons.update_cron(&cron, stored.next_run).await? {
                self.listeners.bucket_changed(&bucket);
                self.listeners.crons_changed();
                return Ok(BucketCron { cron, bucket: Some(bucket) });
            }
        }
    }

    /// Removes a cron and its bucket; what still waits for an output of that is
    /// not attempted any more.
    pub async fn delete_cron(&self, caller: &Caller, id: CronId) -> Result<(), Error> {
        caller.require_account()?;
        let cron = self.owned_cron(caller, id).await?;
        let _guard = self.lock(cron.bucket_id.as_uuid()).await;
        let bucket = self.stores.buckets.bucket(caller.account_id(), cron.bucket_id).await?;
        self.stores.crons.delete_cron(caller.account_id(), id).await?;
        if let Some(bucket) = bucket {
            self.listeners.bucket_changed(&bucket);
        }
        Ok(())
    }

    async fn owned_cron(&self, caller: &Caller, id: CronId) -> Result<Cron, Error> {
        let cron = self.stores.crons.cron(caller.account_id(), id).await?;
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
        check::output(&output, &self.options)?;
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

    /// Makes the cron's output lead where `wanted` says, and nothing else of it.
    async fn point_output(
        &self,
        caller: &Caller,
        cron: &Cron,
        bucket: &mut Bucket,
        wanted: OutputSpec,
    ) -> Result<OutputId, Error> {
        let (account, now) = (caller.account_id(), self.now());
        let output = bucket.outputs.iter_mut().find(|output| output.id == cron.output_id);
        let Some(output) = output else {
            let mut output = self.cron_output(caller, cron.id, bucket.id, wanted);
            let names = |name: &str| bucket.outputs.iter().any(|other| other.spec.name == name);
            if names(&output.spec.name) {
                output.spec.name = format!("{OUTPUT_NAME} {}", output.id);
            }
            self.stores.outputs.create_output(account, &output).await?;
            let id = output.id;
            bucket.outputs.push(output);
            return Ok(id);
        };
        let OutputSpec { destination, function_id, .. } = wanted;
        if (&output.spec.destination, output.spec.function_id) != (&destination, function_id) {
            output.spec.destination = destination;
            output.spec.function_id = function_id;
            output.updated_at = now;
            self.stores.outputs.update_output(account, output).await?;
        }
        Ok(output.id)
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
    async fn store_cron(&self, cron: &Cron, bucket: &mut Bucket) -> Result<(), Error> {
        let id = cron.id.to_string();
        // The last digits are random.
        let tail = id.rsplit('-').next().unwrap_or(&id);
        let name = &cron.spec.name;
        if !name.is_empty() {
            bucket.spec.name.clone_from(name);
            match self.stores.crons.create_cron(cron, bucket).await {
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                stored => return stored,
            }
        }
        let room = self.options.max_name_bytes.saturating_sub(tail.len() + 1);
        let start = name.floor_char_boundary(room);
        let start = if start == 0 { "cron" } else { &name[..start] };
        bucket.spec.name = format!("{start}-{tail}");
        self.stores.crons.create_cron(cron, bucket).await
    }
}
