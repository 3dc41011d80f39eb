//! Replays: many stored webhooks are sent again.

use std::{
    collections::{BTreeSet, HashSet},
    time::Duration,
};

use super::{Admin, Caller, check, log::within, selection::Counting};
use crate::{
    error::{Error, invalid_if},
    id::{BucketId, ReplayId},
    model::{Log, Replay, ReplayChange, ReplayPlan, ReplaySpec, ReplayStatus, ReplayTotals},
    relay::Source,
    store::{Page, RouteStore},
};

/// How many logs a plan shows.
const SAMPLE: usize = 10;

impl Admin {
    /// Replays on a page at most.
    pub const MAX_REPLAYS: usize = 100;

    /// What a replay would do. It looks at 100 000 logs at most, for 10 s at most, and says
    /// whether these are all.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid) names the field that is wrong;
    /// [`Busy`](crate::ErrorKind::Busy) when the account searches too often at the same time.
    pub async fn plan_replay(
        &self,
        caller: &Caller,
        spec: ReplaySpec,
    ) -> Result<ReplayPlan, Error> {
        let replay = self.new_replay(caller, spec).await?;
        self.plan(&replay).await
    }

    /// Begins a replay.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid) names the field that is wrong, or says that there is
    /// nothing to send; [`Conflict`](crate::ErrorKind::Conflict) when another replay sends to one of its
    /// outputs; [`Busy`](crate::ErrorKind::Busy) when the account has
    /// [all of its replays](super::AdminOptions::max_replays_per_account).
    pub async fn create_replay(&self, caller: &Caller, spec: ReplaySpec) -> Result<Replay, Error> {
        let mut replay = self.new_replay(caller, spec).await?;
        let plan = self.plan(&replay).await?;
        if plan.exact && plan.count == 0 {
            let reason = match plan.skipped {
                0 => "nothing is like that".to_owned(),
                skipped => format!("{skipped} logs are like that, and none can be sent again"),
            };
            return Err(Error::invalid("filter", reason));
        }
        replay.total = plan.exact.then_some(plan.count);
        replay.outputs = plan.by_output.keys().filter_map(|id| id.parse().ok()).collect();
        replay.outputs.extend(replay.spec.to_output);
        replay.outputs.sort_unstable();
        replay.outputs.dedup();
        let most = self.options.max_replays_per_account;
        self.stores.replays.create_replay(&replay, most).await?;
        self.relay.replays_changed();
        Ok(replay)
    }

    /// The account's replays, newest first, those before `before`; at most
    /// [`MAX_REPLAYS`](Self::MAX_REPLAYS). A token that reaches some buckets only sees theirs.
    pub async fn replays(
        &self,
        caller: &Caller,
        before: Option<ReplayId>,
        limit: usize,
    ) -> Result<Vec<Replay>, Error> {
        caller.require_api_access()?;
        within("limit", limit, 1..=Self::MAX_REPLAYS)?;
        let mut found = self.stores.replays.replays(caller.account_id(), before, limit).await?;
        if caller.is_scoped() {
            let reached = self.streamed_buckets(caller, Page::ALL).await?;
            let reached: HashSet<BucketId> = reached.iter().map(|it| it.id).collect();
            found.retain(|it| it.bucket_id.is_some_and(|bucket| reached.contains(&bucket)));
        }
        self.progress(found).await
    }

    /// One replay of the account.
    pub async fn replay(&self, caller: &Caller, id: ReplayId) -> Result<Replay, Error> {
        let replay = self.reached_replay(caller, id).await?;
        let mut found = self.progress(vec![replay]).await?;
        found.pop().ok_or_else(|| Error::not_found("replay"))
    }

    /// Pauses, resumes or cancels a replay, or changes its rate. To pause what is paused is
    /// fine.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid) names the field that is wrong;
    /// [`Conflict`](crate::ErrorKind::Conflict) when the replay is over.
    pub async fn change_replay(
        &self,
        caller: &Caller,
        id: ReplayId,
        change: ReplayChange,
    ) -> Result<Replay, Error> {
        let ReplayChange { status, rate, interval } = change;
        let is_outcome = matches!(status, Some(ReplayStatus::Done | ReplayStatus::Failed));
        invalid_if(is_outcome, "status", "must be paused, running or cancelled")?;
        loop {
            let mut replay = self.reached_replay(caller, id).await?;
            let (from, now) = (replay.status, self.now());
            match status {
                Some(status) if status == from => {}
                Some(ReplayStatus::Cancelled) => replay.finish(ReplayStatus::Cancelled, now)?,
                _ if from.is_over() => {
                    let message = format!("the replay is {}", from.as_str());
                    return Err(Error::conflict(message));
                }
                status => replay.status = status.unwrap_or(from),
            }
            let spec = &mut replay.spec;
            (spec.rate, spec.interval) =
                (rate.unwrap_or(spec.rate), interval.unwrap_or(spec.interval));
            within("rate", spec.rate, 1..=ReplaySpec::MAX_RATE)?;
            // Somebody else may have changed it meanwhile, or it has come to its end.
            if self.stores.replays.change_replay(&replay, from, now).await? {
                match replay.status {
                    ReplayStatus::Running => self.relay.replays_changed(),
                    ReplayStatus::Cancelled => self.relay.replays.withdraw(id).await,
                    _ => {}
                }
                return self.replay(caller, id).await;
            }
        }
    }

    async fn reached_replay(&self, caller: &Caller, id: ReplayId) -> Result<Replay, Error> {
        caller.require_api_access()?;
        let account = caller.account_id();
        let replay = self.stores.replays.replay(account, id).await?;
        let replay = replay.ok_or_else(|| Error::not_found("replay"))?;
        self.require_reach(caller, replay.bucket_id).await?;
        Ok(replay)
    }

    /// The same with what came of their webhooks.
    async fn progress(&self, mut found: Vec<Replay>) -> Result<Vec<Replay>, Error> {
        let ids: Vec<_> = found.iter().map(|replay| replay.id).collect();
        let totals = self.stores.replays.replay_totals(&ids).await?;
        for (replay, totals) in found.iter_mut().zip(totals) {
            replay.totals = totals;
        }
        Ok(found)
    }

    /// A replay that is checked and not stored.
    async fn new_replay(&self, caller: &Caller, spec: ReplaySpec) -> Result<Replay, Error> {
        caller.require_api_access()?;
        within("rate", spec.rate, 1..=ReplaySpec::MAX_RATE)?;
        within("max_waiting", spec.max_waiting, 1..=ReplaySpec::MAX_WAITING)?;
        check::text("description", &spec.description)?;
        let now = self.now();
        self.check_filter(&spec.filter, now)?;
        let is_named = !spec.filter.bucket.is_empty() || spec.to_output.is_none();
        let mut bucket_id = match is_named {
            true => self.bucket_of_filter(caller, &spec.filter).await?,
            false => None,
        };
        if let Some(output) = spec.to_output {
            let of = self.stores.documents.bucket_of_output(output).await?;
            let of = of.filter(|of| caller.reaches(of) && bucket_id.is_none_or(|id| id == of.id));
            let of = of.ok_or_else(|| Error::invalid("to_output", "the bucket has no such output"));
            bucket_id = Some(of?.id);
        }
        Ok(Replay {
            id: self.ids.next(),
            account_id: caller.account_id(),
            bucket_id,
            status: ReplayStatus::Running,
            error: String::new(),
            total: None,
            outputs: Vec::new(),
            totals: ReplayTotals::default(),
            skipped: 0,
            created_at: now,
            finished_at: None,
            cursor: String::new(),
            spec,
        })
    }

    /// Looks at what a replay would send, within bounds.
    async fn plan(&self, replay: &Replay) -> Result<ReplayPlan, Error> {
        let _entered = self.enter_search(replay.account_id)?;
        let source =
            Source::new(replay.into(), self.stores.logs.clone(), self.stores.deliveries.clone())?;
        let mut plan = ReplayPlan::default();
        let (mut webhooks, mut paused) = (HashSet::new(), BTreeSet::new());
        let mut counting = Counting::new(source);
        while let Some(logs) = counting.next().await? {
            for log in logs {
                webhooks.insert(log.webhook.id);
                self.add(&mut plan, &mut paused, replay, log).await?;
            }
        }
        plan.exact = counting.exact;
        plan.webhooks = webhooks.len() as u64;
        plan.paused_outputs = paused.into_iter().collect();
        let each = replay.spec.interval.duration().as_secs_f64() / f64::from(replay.spec.rate);
        #[expect(clippy::cast_precision_loss, reason = "at most some hundred thousand")]
        let lasts = Duration::try_from_secs_f64(each * plan.count as f64);
        plan.duration_at_rate = lasts.unwrap_or(Duration::MAX);
        Ok(plan)
    }

    /// Counts a log that was found.
    async fn add(
        &self,
        plan: &mut ReplayPlan,
        paused: &mut BTreeSet<crate::id::OutputId>,
        replay: &Replay,
        log: Log,
    ) -> Result<(), Error> {
        let targets = self.relay.replay_targets(&log, &replay.spec).await?;
        *plan.by_status.entry(log.delivery.status.as_str()).or_default() += 1;
        let at = log.delivery.created_at;
        plan.oldest = Some(plan.oldest.map_or(at, |oldest| oldest.min(at)));
        plan.newest = Some(plan.newest.map_or(at, |newest| newest.max(at)));
        plan.skipped += u64::from(targets.is_empty());
        plan.count += targets.len() as u64;
        let request = log.delivery.processed.as_ref().unwrap_or(&log.webhook.request);
        plan.bytes += (request.size_bytes() * targets.len()) as u64;
        let now = self.now();
        for output in targets {
            let id = output.as_ref().map_or_else(String::new, |output| output.id.to_string());
            *plan.by_output.entry(id).or_default() += 1;
            if let Some(output) = output.filter(|output| output.pauses.current(now).is_some()) {
                paused.insert(output.id);
            }
        }
        if plan.sample.len() < SAMPLE {
            plan.sample.push(log);
        }
        Ok(())
    }
}
