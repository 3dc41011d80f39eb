//! Clients that are connected, and how one more gets there.

use askama::Template;
use axum::{Router, routing::get};
use webhook_core::relay::{ConnectedClient, Listening};

use super::{Asked, rows::Names};
use crate::{
    Dashboard,
    page::{Frame, Reply, page},
    session::Session,
    show,
};

pub(crate) fn router() -> Router<Dashboard> {
    Router::new().route("/agents", get(list))
}

#[derive(Template)]
#[template(path = "agents.html")]
struct Agents {
    frame: Frame,
    rows: Vec<Row>,
    /// Names, and whether one is chosen.
    buckets: Vec<(String, bool)>,
    command: String,
}

struct Row {
    what: String,
    from: String,
    credential: String,
    buckets: String,
    destination: String,
    since: String,
    ago: String,
}

fn row(session: &Session, client: ConnectedClient, names: &Names) -> Row {
    let ConnectedClient { info, listening, outputs, subscribed_at } = client;
    let mut buckets: Vec<_> = match listening {
        Listening::All => vec!["all".to_owned()],
        Listening::Buckets(ids) => ids.iter().map(|id| names.bucket(*id).to_owned()).collect(),
    };
    buckets.sort();
    let outputs = match outputs.is_empty() {
        true => String::new(),
        false => format!(" › {}", outputs.join(", ")),
    };
    Row {
        what: format!("{} {}", info.kind, info.version),
        from: info.ip.map_or("unknown".to_owned(), |ip| ip.to_string()),
        credential: info.token_id.map_or("API key".to_owned(), |id| format!("token {id}")),
        buckets: format!("{}{outputs}", buckets.join(", ")),
        destination: info.destination,
        since: show::moment(subscribed_at),
        ago: show::ago(subscribed_at, session.now()),
    }
}

async fn list(session: Session, asked: Asked) -> Reply {
    let (clients, _) = session.admin().clients(&session.caller).await?;
    let buckets = session.admin().buckets(&session.caller).await?;
    let names = Names::of(&buckets);
    let known: Vec<_> = buckets.into_iter().map(|bucket| bucket.spec.name).collect();
    let asked = asked.get("bucket").filter(|name| known.iter().any(|known| known == name));
    let chosen = asked.or(known.first().map(String::as_str)).unwrap_or("NAME").to_owned();
    let command = format!(
        "webhook-server forward --server-url {} --bucket {} http://localhost:3000",
        show::quoted(session.dashboard.base()),
        show::quoted(&chosen),
    );
    Ok(page(&Agents {
        frame: Frame::new(&session, "Agents", "Agents"),
        rows: clients.into_iter().map(|client| row(&session, client, &names)).collect(),
        buckets: known.into_iter().map(|name| (name.clone(), name == chosen)).collect(),
        command,
    }))
}
