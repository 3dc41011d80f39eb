//! One client from its first frame to its end: it authenticates, subscribes and gets webhooks.

use std::{collections::HashSet, net::IpAddr, sync::Arc, time::Duration};

use hyper::upgrade::Upgraded;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use webhook_core::{
    BucketId, ErrorKind,
    admin::Caller,
    model::Bucket,
    relay::{ClientInfo, Listening, Streamed, Subscription},
    store::Page,
};

use super::{
    frame::{self, Said},
    leasing::{Leasing, ROOM, unreadable},
    recheck::Checked,
    sockets::{Slot, Sockets, Stranger},
    wire::{End, Socket},
};
use crate::{
    api::auth::{self, Shown},
    state::AppState,
};

/// How long a client may take to authenticate.
const AUTH_TIMEOUT: Duration = Duration::from_secs(10);
/// Unanswered pings after which a client counts as gone.
const MISSED_PINGS: u32 = 2;
/// How much is kept of what a client says about itself.
const MAX_INFO_CHARS: usize = 200;
/// How many unknown names a client is told.
const MAX_LISTED: usize = 50;
/// What a client is told whose credential is good no more.
const WITHDRAWN: &str = "the credential has been withdrawn";

/// A client that has authenticated.
pub(super) struct Session {
    /// What all sockets share.
    sockets: Arc<Sockets>,
    /// The account and scope of the client's credentials.
    caller: Caller,
    /// What the client says about itself, for `GET /v1/connected-clients`.
    info: ClientInfo,
    /// The connection.
    socket: Socket,
    /// The client's place among all of them.
    _slot: Slot,
    /// What the client is subscribed to.
    subscription: Option<Subscription>,
    /// What it gets alone, if it leases: of which buckets, and how.
    leasing: Option<(Listening, Leasing)>,
    /// The credentials, until the first subscription checks them once more.
    shown: Option<Shown>,
    /// The same from then on.
    checked: Option<Arc<Checked>>,
    /// How many pings in a row the client has not answered.
    unanswered: u32,
}

impl Session {
    /// Serves a client until it or the server ends the connection.
    pub(super) async fn run(
        sockets: Arc<Sockets>,
        upgraded: Upgraded,
        stranger: Stranger,
        ip: Option<IpAddr>,
        user_agent: Option<&str>,
    ) {
        let mut socket = Socket::new(upgraded, sockets.write_timeout, ip).await;
        let authenticated = tokio::select! {
            authenticated = timeout(AUTH_TIMEOUT, authenticate(&sockets, &mut socket, user_agent)) => {
                authenticated.unwrap_or_else(|_| {
                    let seconds = AUTH_TIMEOUT.as_secs();
                    Err(End::unauthorized(format!("no auth frame within {seconds} s")))
                })
            }
            () = sockets.stopped() => Err(End::Stopping),
        };
        let Known { caller, info, slot, shown } = match authenticated {
            Ok(known) => known,
            Err(end) => return socket.end(end).await,
        };
        drop(stranger);
        let session = Self {
            sockets,
            caller,
            info,
            socket,
            _slot: slot,
            subscription: None,
            leasing: None,
            shown: Some(shown),
            checked: None,
            unanswered: 0,
        };
        session.converse().await;
    }

    async fn converse(mut self) {
        let ended = self.exchange().await;
        tracing::debug!(ip = ?self.socket.ip, ?ended, "a client leaves");
        // Dropped before the close frame, so that other clients get at once what this one has
        // not reported on.
        drop(self.subscription.take());
        self.socket.end(ended).await;
    }

    async fn exchange(&mut self) -> End {
        let sockets = Arc::clone(&self.sockets);
        let stopped = sockets.stopped();
        tokio::pin!(stopped);
        let every = sockets.ping_interval;
        let mut ping = interval_at(Instant::now() + every, every);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let done = tokio::select! {
                biased;
                () = &mut stopped => return End::Stopping,
                said = self.socket.receive() => match said {
                    Ok(text) => self.listen_to(&text).await,
                    Err(end) => Err(end),
                },
                () = withdrawn(self.checked.as_deref()) => {
                    Err(End::unauthorized(WITHDRAWN))
                }
                _ = ping.tick() => self.ping().await,
                next = next(&mut self.subscription, &mut self.leasing) => match next {
                    Ok(Next::Streamed(streamed)) => self.pass_on(streamed).await,
                    Ok(Next::Leasable) => self.hand_out().await,
                    Err(error) => Err(unreadable(error)),
                },
            };
            if let Err(end) = done {
                return end;
            }
        }
    }

    async fn listen_to(&mut self, text: &str) -> Result<(), End> {
        self.unanswered = 0;
        let said = parse(text)?;
        match &*said.action {
            "subscribe" => self.subscribe(said).await,
            "more" => self.make_room(said).await,
            "pong" => Ok(()),
            "ping" => self.socket.send(frame::status("pong", "")).await,
            "auth" => self.socket.send(frame::status("error", "already authenticated")).await,
            _ => {
                let message = "unknown action: expected subscribe, more or pong";
                self.socket.send(frame::status("error", message)).await
            }
        }
    }

    async fn subscribe(&mut self, said: Said) -> Result<(), End> {
        let buckets =
            match self.sockets.state.admin().streamed_buckets(&self.caller, Page::ALL).await {
                Ok(buckets) => buckets,
                Err(error) => {
                    return self.socket.send(frame::status("error", &error.to_string())).await;
                }
            };
        let wanted = frame::names(said.buckets);
        let Chosen { listening, message } = choose(&buckets, &wanted, self.caller.is_scoped());
        let outputs = frame::names(said.outputs);
        let leasing = match (said.lease, said.limit) {
            (None, None) => Ok(None),
            (None, Some(_)) => Err("limit: goes with lease".to_owned()),
            (Some(lease), limit) => {
                Leasing::new(lease, limit, &outputs, &buckets, &listening).map(Some)
            }
        };
        let leasing = match leasing {
            Ok(leasing) => leasing,
            Err(message) => return self.socket.send(frame::status("error", &message)).await,
        };
        let subscription = match self.subscription.take() {
            Some(subscription) => subscription,
            None => self.first_subscription().await?,
        };
        self.leasing = leasing.map(|leasing| (listening.clone(), leasing));
        self.subscription.insert(subscription).listen_to_outputs(listening, outputs);
        self.socket.send(frame::status("subscribed", &message)).await
    }

    /// A subscription without outputs; those that the client names are looked up after it.
    async fn first_subscription(&mut self) -> Result<Subscription, End> {
        check_room(&self.sockets.state, &self.caller).await?;
        let none = Listening::Buckets(HashSet::new());
        let account = self.caller.account_id();
        let subscription = self.sockets.state.clients().subscribe(account, none, self.info.clone());
        // From here on a change of the credential here ends the subscription. A change between
        // authenticating and this moment is seen only by checking the credential again, and
        // so is one at another server.
        if let Some(shown) = self.shown.take() {
            if known(&self.sockets.state, self.socket.ip, &shown).await? != self.caller {
                return Err(End::unauthorized("the credential has been changed"));
            }
            let Sockets { state, rechecks, .. } = &*self.sockets;
            self.checked = Some(rechecks.of(state, shown, &self.caller));
        }
        Ok(subscription)
    }

    /// The client takes more of what it leases.
    async fn make_room(&mut self, said: Said) -> Result<(), End> {
        let count = said.count.unwrap_or(1);
        let message = match (&mut self.leasing, usize::try_from(count)) {
            (Some((_, leasing)), Ok(count)) if ROOM.contains(&(count as i64)) => {
                leasing.make_room(count);
                return Ok(());
            }
            (None, _) => "more: nothing is leased".to_owned(),
            _ => format!("count: must be 0 to {}", ROOM.end()),
        };
        self.socket.send(frame::status("error", &message)).await
    }

    async fn hand_out(&mut self) -> Result<(), End> {
        let Self { sockets, caller, leasing, subscription, socket, .. } = self;
        match (leasing, subscription) {
            (Some((listening, leasing)), Some(subscription)) => {
                leasing.hand_out(&sockets.state, caller, subscription, listening, socket).await
            }
            _ => Ok(()),
        }
    }

    async fn ping(&mut self) -> Result<(), End> {
        if self.unanswered == MISSED_PINGS {
            let said = format!("{MISSED_PINGS} pings were not answered");
            return Err(End::refused(CloseCode::Policy, said));
        }
        self.unanswered += 1;
        self.socket.send(frame::status("ping", "")).await
    }

    async fn pass_on(&mut self, streamed: Streamed) -> Result<(), End> {
        match streamed {
            Streamed::Webhook(event) => self.socket.send(frame::webhook(&event)).await,
            Streamed::Missed(count) => {
                let message = format!(
                    "{count} webhooks did not fit into the queue, because this client reads too \
                     slowly: those of internal outputs follow, the others are in the logs"
                );
                self.socket.send(frame::status("missed", &message)).await
            }
            Streamed::Closed => Err(End::unauthorized(WITHDRAWN)),
        }
    }
}

/// Returns when the credential is not good any more; without one this waits for ever.
async fn withdrawn(checked: Option<&Checked>) {
    match checked {
        Some(checked) => checked.ended().await,
        None => std::future::pending().await,
    }
}

/// What a subscription has for its client.
enum Next {
    Streamed(Streamed),
    /// Something may wait that it leases.
    Leasable,
}

/// What the subscription has next; without a subscription this waits for ever.
async fn next(
    subscription: &mut Option<Subscription>,
    leasing: &mut Option<(Listening, Leasing)>,
) -> Result<Next, webhook_core::Error> {
    match (subscription, leasing) {
        (None, _) => std::future::pending().await,
        (Some(subscription), None) => subscription.next().await.map(Next::Streamed),
        (Some(subscription), Some((_, leasing))) => Ok(match leasing.due(subscription).await {
            true => Next::Leasable,
            false => Next::Streamed(Streamed::Closed),
        }),
    }
}

fn parse(text: &str) -> Result<Said, End> {
    Said::parse(text).map_err(|error| {
        End::refused(CloseCode::Invalid, format!("the frame is not what was expected: {error}"))
    })
}

/// What the first frame says.
struct Known {
    caller: Caller,
    info: ClientInfo,
    slot: Slot,
    shown: Shown,
}

/// Waits for the first frame, which carries the credentials.
async fn authenticate(
    sockets: &Sockets,
    socket: &mut Socket,
    user_agent: Option<&str>,
) -> Result<Known, End> {
    let said = parse(&socket.receive().await?)?;
    if said.action != "auth" {
        return Err(End::unauthorized("the first frame must be an auth frame"));
    }
    let shown = Shown::KeyAndSecret(said.key.unwrap_or_default(), said.secret.unwrap_or_default());
    let caller = known(&sockets.state, socket.ip, &shown).await?;
    let slot = sockets.slot().ok_or_else(|| {
        End::refused(CloseCode::Again, "too many clients at once: connect again later")
    })?;
    let (agent_type, agent_version) =
        user_agent.map_or(("", ""), |agent| agent.split_once('/').unwrap_or((agent, "")));
    let info = ClientInfo {
        token_id: caller.token_id(),
        ip: socket.ip,
        kind: short(said.client_type.as_deref().unwrap_or(agent_type)),
        version: short(said.client_version.as_deref().unwrap_or(agent_version)),
        destination: short(said.destination.as_deref().unwrap_or_default()),
    };
    socket.send(frame::status("authenticated", "authenticated successfully")).await?;
    Ok(Known { caller, info, slot, shown })
}

/// The caller whose credentials these are.
async fn known(state: &AppState, ip: Option<IpAddr>, shown: &Shown) -> Result<Caller, End> {
    auth::identify(state, ip, shown, || {}).await.map_err(|error| {
        match error.kind() {
            ErrorKind::Unauthorized => return End::unauthorized(error.to_string()),
            ErrorKind::Busy => {
                return End::refused(CloseCode::Again, format!("{error}: connect again later"));
            }
            _ => {}
        }
        tracing::error!(%error, "cannot authenticate a client");
        let said = "credentials cannot be checked now: connect again later";
        End::refused(CloseCode::Again, said)
    })
}

/// Whether the account's plan allows another client.
async fn check_room(state: &AppState, caller: &Caller) -> Result<(), End> {
    match state.admin().check_clients(caller).await {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::Conflict => {
            Err(End::refused(CloseCode::Policy, error.to_string()))
        }
        Err(error) => {
            tracing::error!(%error, "cannot read the plan of a client");
            let said = "the plan cannot be read now: connect again later";
            Err(End::refused(CloseCode::Again, said))
        }
    }
}

fn short(text: &str) -> String {
    text.chars().take(MAX_INFO_CHARS).collect()
}

struct Chosen {
    listening: Listening,
    message: String,
}

/// Which of the caller's buckets are meant by these names and IDs.
fn choose(buckets: &[Bucket], wanted: &[String], limited: bool) -> Chosen {
    let (mut found, mut unknown) = (Vec::new(), Vec::new());
    for name in wanted {
        // Text that has the form of an ID is never taken for a name.
        let is_meant = |bucket: &&Bucket| match name.parse::<BucketId>() {
            Ok(id) => bucket.id == id,
            Err(_) => bucket.spec.name == *name,
        };
        match buckets.iter().find(is_meant) {
            Some(bucket) => found.push(bucket),
            None => unknown.push(&**name),
        }
    }
    let listening = match wanted.is_empty() {
        true if !limited => Listening::All,
        true => Listening::Buckets(buckets.iter().map(|bucket| bucket.id).collect()),
        false => Listening::Buckets(found.iter().map(|bucket| bucket.id).collect()),
    };
    if wanted.is_empty() {
        found = buckets.iter().collect();
    }
    let found: Vec<_> = found.iter().map(|bucket| &*bucket.spec.name).collect();
    let mut message = format!("subscribed to buckets: {}", list(&found));
    if !unknown.is_empty() {
        message.push_str("; unknown buckets: ");
        message.push_str(&list(&unknown));
    }
    Chosen { listening, message }
}

fn list(names: &[&str]) -> String {
    let mut list = names.get(..MAX_LISTED).unwrap_or(names).join(", ");
    if let Some(more) = names.len().checked_sub(MAX_LISTED).filter(|more| *more > 0) {
        list.push_str(&format!(" and {more} more"));
    }
    list
}
