//! The first page.

use askama::Template;
use axum::{extract::State, response::Response};
use webhook_core::{
    Error,
    admin::{LogQuery, MinuteQuery},
    model::{Bucket, DeliveryStatus},
    store::MinuteCount,
};

use super::rows::{Names, Rows};
use crate::{
    Dashboard, PATH,
    bars::{self, Bars, Sums},
    page::{Frame, Problem, page},
    session::Session,
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
    agents: Option<usize>,
    bars: Bars,
    troubled: Vec<Troubled>,
    rows: Rows,
}

struct Troubled {
    class: &'static str,
    sign: &'static str,
    word: String,
    name: String,
    href: String,
    bucket: String,
}

pub(crate) async fn show(
    State(dashboard): State<Dashboard>,
    session: Session,
) -> Result<Response, Problem> {
    let (admin, caller) = (dashboard.admin(), &session.caller);
    let buckets = admin.buckets(caller).await?;
    let mut query = LogQuery::default();
    query.limit = 8;
    let mut scope = String::new();
    if caller.is_scoped() {
        query.bucket = buckets.first().map(|bucket| bucket.id.into());
        scope = buckets.first().map(|it| format!("bucket={}&", it.id)).unwrap_or_default();
    }
    let latest = admin.logs(caller, &query).await?;
    query.status = Some(DeliveryStatus::Received);
    query.limit = 1;
    let waiting = admin.logs(caller, &query).await?.total;
    let minutes = minutes(&dashboard, &session, &buckets).await?;
    let agents = match session.has_account() {
        true => Some(admin.clients(caller).await?.len()),
        false => None,
    };
    let list = format!("{PATH}/webhooks?{scope}");
    let page_ = Overview {
        frame: Frame::new(&session, "Overview", "Overview"),
        scope,
        sums: Sums::of(&minutes),
        waiting,
        agents,
        bars: bars::hours(&minutes, dashboard.now(), &list),
        troubled: troubled(&dashboard, &session, &buckets).await?,
        rows: Rows::of(&latest.logs, &Names::of(&buckets)),
    };
    Ok(page(&page_))
}

/// The minutes of the last day in everything that the caller reaches.
async fn minutes(
    dashboard: &Dashboard,
    session: &Session,
    buckets: &[Bucket],
) -> Result<Vec<MinuteCount>, Error> {
    let (admin, caller) = (dashboard.admin(), &session.caller);
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

async fn troubled(
    dashboard: &Dashboard,
    session: &Session,
    buckets: &[Bucket],
) -> Result<Vec<Troubled>, Error> {
    let mut troubled = Vec::new();
    let mut outputs = Vec::new();
    for bucket in buckets {
        outputs.extend(bucket.outputs.iter().map(|output| (bucket, output)));
    }
    for (bucket, output) in outputs.into_iter().take(ASKED_OUTPUTS) {
        let (class, sign, word) = if output.spec.disabled {
            ("quiet", "‖", "disabled".to_owned())
        } else {
            let mut query = MinuteQuery::default();
            query.bucket = Some(bucket.id.into());
            query.output_id = Some(output.id);
            query.status = Some(DeliveryStatus::Failed);
            let failed = dashboard.admin().minutes(&session.caller, &query).await?;
            match Sums::of(&failed).failed {
                0 => continue,
                count => ("bad", "✕", format!("{count} failed")),
            }
        };
        troubled.push(Troubled {
            class,
            sign,
            word,
            name: output.spec.name.clone(),
            href: format!("{PATH}/buckets/{}", bucket.id),
            bucket: bucket.spec.name.clone(),
        });
    }
    Ok(troubled)
}
