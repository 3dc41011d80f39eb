//! The first page.

use askama::Template;
use webhook_core::{
    Error,
    admin::{LogQuery, MinuteQuery},
    model::{Bucket, DeliveryStatus},
    store::MinuteCount,
};

use super::rows::{Names, Rows};
use crate::{
    PATH,
    bars::{self, Bars, Sums},
    page::{Frame, Reply, page},
    session::Session,
    show,
};

/// How many outputs are asked for what failed at them.
const ASKED_OUTPUTS: usize = 50;

#[derive(Template)]
#[template(path = "overview.html")]
struct Overview {
    frame: Frame,
    /// The filter that a token needs which reaches some buckets only.
    scope: String,
    sums: Sums,
    waiting: u64,
    /// Since when the oldest of them waits, as far as that is known.
    oldest: String,
    agents: Option<usize>,
    bars: Bars,
    troubled: Vec<Troubled>,
    rows: Rows,
}

/// An output that sends nothing, or failed.
struct Troubled {
    class: &'static str,
    sign: &'static str,
    word: String,
    name: String,
    href: String,
    bucket: String,
    /// What failed at it, or waits for it.
    list: String,
}

pub(crate) async fn show(session: Session) -> Reply {
    let (admin, caller) = (session.admin(), &session.caller);
    let buckets = admin.buckets(caller).await?;
    let mut query = LogQuery::default();
    query.limit = 8;
    let mut scope = String::new();
    if caller.is_scoped() {
        query.bucket = buckets.first().map(|bucket| bucket.id.into());
        scope = buckets.first().map(|it| format!("bucket={}&", it.id)).unwrap_or_default();
    }
    let latest = admin.log_heads(caller, &query).await?;
    query.status = Some(DeliveryStatus::Received);
    query.limit = 1;
    let waiting = admin.log_heads(caller, &query).await?.total;
    let minutes = minutes(&session, &buckets).await?;
    let agents = match session.has_account() {
        true => Some(admin.clients(caller).await?.0.len()),
        false => None,
    };
    let list = format!("{PATH}/webhooks?{scope}");
    let page_ = Overview {
        frame: Frame::new(&session, "Overview", "Overview"),
        scope,
        sums: Sums::of(&minutes),
        oldest: oldest(waiting, &minutes),
        waiting,
        agents,
        bars: bars::hours(&minutes, session.now(), &list),
        troubled: troubled(&session, &buckets).await?,
        rows: Rows::of(&latest.heads, &Names::of(&buckets)),
    };
    Ok(page(&page_))
}

/// Since when the oldest webhook waits, by the minutes of the last day.
fn oldest(waiting: u64, minutes: &[MinuteCount]) -> String {
    let waits = |minute: &&MinuteCount| {
        minute.counts.iter().any(|(status, count)| *status == "received" && *count > 0)
    };
    let first = minutes.iter().filter(waits).map(|minute| minute.minute).min();
    match first {
        _ if waiting == 0 => "now".to_owned(),
        // Those that are older are in no minute of the last day.
        _ if Sums::of(minutes).waiting < waiting => "the oldest for over a day".to_owned(),
        Some(first) => format!("the oldest since {}", show::time(first)),
        None => "now".to_owned(),
    }
}

/// The minutes of the last day in everything that the caller reaches.
async fn minutes(session: &Session, buckets: &[Bucket]) -> Result<Vec<MinuteCount>, Error> {
    let (admin, caller) = (session.admin(), &session.caller);
    if !caller.is_scoped() {
        return admin.minutes(caller, &MinuteQuery::default()).await;
    }
    let mut all = Vec::new();
    for bucket in buckets {
        let mut query = MinuteQuery::default();
        query.bucket = Some(bucket.id.into());
        all.append(&mut admin.minutes(caller, &query).await?);
    }
    Ok(all)
}

async fn troubled(session: &Session, buckets: &[Bucket]) -> Result<Vec<Troubled>, Error> {
    let mut troubled = Vec::new();
    let mut outputs = Vec::new();
    for bucket in buckets {
        outputs.extend(bucket.outputs.iter().map(|output| (bucket, output)));
    }
    for (bucket, output) in outputs.into_iter().take(ASKED_OUTPUTS) {
        let paused = output.pauses.current(session.now()).is_some();
        let (class, sign, word, status) = if output.spec.disabled {
            ("quiet", "‖", "disabled".to_owned(), "received")
        } else if paused {
            ("warn", "‖", "paused".to_owned(), "received")
        } else {
            let mut query = MinuteQuery::default();
            query.bucket = Some(bucket.id.into());
            query.output_id = Some(output.id);
            query.status = Some(DeliveryStatus::Failed);
            let failed = session.admin().minutes(&session.caller, &query).await?;
            match Sums::of(&failed).failed {
                0 => continue,
                count => ("bad", "✕", format!("{count} failed"), "failed"),
            }
        };
        troubled.push(Troubled {
            class,
            sign,
            word,
            name: output.spec.name.clone(),
            href: format!("{PATH}/buckets/{}", bucket.id),
            bucket: bucket.spec.name.clone(),
            list: format!(
                "{PATH}/webhooks?bucket={}&output={}&status={status}",
                bucket.id, output.id
            ),
        });
    }
    Ok(troubled)
}
