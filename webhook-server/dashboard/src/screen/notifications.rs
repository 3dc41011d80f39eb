//! Notifications: what the account is told of, and in which bucket.

use askama::Template;
use axum::{
    Router,
    routing::{get, post},
};
use webhook_core::model::{Bucket, Choice, Notification, NotificationEvent, NotificationSpec};

use super::{
    Asked, On, done,
    edit::{Edit, Remove},
};
use crate::{
    Dashboard, PATH,
    form::{Form, Submitted},
    page::{Frame, Reply, page},
    session::Session,
    show,
};

pub(crate) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/notifications", get(list))
        .route("/notifications/new", get(new).post(create))
        .route("/notifications/{notification}", get(one).post(save))
        .route("/notifications/{notification}/test", post(test))
        .route("/notifications/{notification}/delete", post(delete))
}

#[derive(Template)]
#[template(path = "notifications.html")]
struct Notifications {
    frame: Frame,
    rows: Vec<Row>,
}

struct Row {
    id: String,
    events: String,
    about: String,
    bucket: String,
    disabled: bool,
    last: String,
}

impl Row {
    fn of(notification: &Notification, buckets: &[Bucket]) -> Self {
        let spec = &notification.spec;
        let name = |id: &String| {
            let known = buckets.iter().find(|bucket| bucket.id.to_string() == *id);
            known.map_or("(deleted)".to_owned(), |bucket| bucket.spec.name.clone())
        };
        let events: Vec<_> = spec.events.iter().map(|event| event.name()).collect();
        Self {
            id: notification.id.to_string(),
            events: events.join(", "),
            about: match spec.buckets.is_empty() {
                true => "all buckets".to_owned(),
                false => spec.buckets.iter().map(name).collect::<Vec<_>>().join(", "),
            },
            bucket: name(&spec.to_bucket),
            disabled: spec.disabled,
            last: notification.last_sent_at.map_or("never".to_owned(), show::moment),
        }
    }
}

async fn list(session: Session, asked: Asked) -> Reply {
    let (admin, caller) = (session.admin(), &session.caller);
    let found = admin.notifications(caller).await?;
    let buckets = admin.buckets(caller).await?;
    let frame = Frame::new(&session, "Notifications", "Notifications");
    Ok(page(&Notifications {
        frame: frame.noticing(asked.get("done")),
        rows: found.iter().map(|it| Row::of(it, &buckets)).collect(),
    }))
}

fn form(action: String, submit: &'static str, spec: &NotificationSpec, buckets: &[Bucket]) -> Form {
    let choose = (String::new(), "choose one".to_owned());
    let all = buckets.iter().map(|bucket| (bucket.id.to_string(), bucket.spec.name.clone()));
    let options = std::iter::once(choose).chain(all);
    Form::new(action, submit).of(spec).with("to_bucket", |field| field.options(options))
}

fn frame(session: &Session, title: &str) -> Frame {
    Frame::new(session, "Notifications", title).below("Notifications", "/notifications")
}

/// The spec as a form shows it, with buckets by their names.
fn shown(spec: &NotificationSpec, buckets: &[Bucket]) -> NotificationSpec {
    let mut shown = spec.clone();
    for id in &mut shown.buckets {
        let known = buckets.iter().find(|bucket| bucket.id.to_string() == *id);
        known.inspect(|bucket| id.clone_from(&bucket.spec.name));
    }
    shown
}

fn creating(session: &Session, buckets: &[Bucket]) -> Edit {
    let spec = NotificationSpec::new(NotificationEvent::ALL, "");
    let form = form(format!("{PATH}/notifications/new"), "Create", &spec, buckets);
    Edit::new(frame(session, "New notification"), form).lead(
        "When something happens to an output, its queue, a function, a signature or a replay, a \
         webhook comes into a bucket, which forwards it as any other.",
    )
}

fn editing(session: &Session, notification: &Notification, buckets: &[Bucket]) -> Edit {
    let path = format!("{PATH}/notifications/{}", notification.id);
    let remove = Remove::new(
        "Delete the notification",
        format!("{path}/delete"),
        "What it has still to tell goes with it. Its bucket stays.",
    );
    let form = form(path, "Save", &shown(&notification.spec, buckets), buckets);
    Edit::new(frame(session, "Notification"), form).removed_by(remove)
}

async fn new(session: Session) -> Reply {
    session.caller.require_account()?;
    let buckets = session.admin().buckets(&session.caller).await?;
    Ok(creating(&session, &buckets).show())
}

async fn create(session: Session, submitted: Submitted) -> Reply {
    session.caller.require_account()?;
    let admin = session.admin();
    let page = creating(&session, &admin.buckets(&session.caller).await?);
    let then = async |spec: NotificationSpec| {
        admin.create_notification(&session.caller, spec).await?;
        Ok(done("/notifications", "created"))
    };
    page.submit(NotificationSpec::default(), &submitted, then).await
}

async fn one(On(session, found): On<Notification>) -> Reply {
    let buckets = session.admin().buckets(&session.caller).await?;
    Ok(editing(&session, &found, &buckets).show())
}

async fn save(On(session, found): On<Notification>, submitted: Submitted) -> Reply {
    let admin = session.admin();
    let page = editing(&session, &found, &admin.buckets(&session.caller).await?);
    let then = async |spec: NotificationSpec| {
        admin.update_notification(&session.caller, found.id, spec).await?;
        Ok(done("/notifications", "saved"))
    };
    page.submit(found.spec.clone(), &submitted, then).await
}

/// Puts a webhook into its bucket that says nothing but that it comes.
async fn test(On(session, found): On<Notification>) -> Reply {
    session.admin().test_notification(&session.caller, found.id).await?;
    Ok(done("/notifications", "tested"))
}

async fn delete(On(session, found): On<Notification>) -> Reply {
    session.admin().delete_notification(&session.caller, found.id).await?;
    Ok(done("/notifications", "deleted"))
}
