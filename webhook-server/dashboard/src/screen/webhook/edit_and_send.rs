//! A copy of a webhook, changed and sent to the same input.

use axum::{
    extract::Extension,
    http::{HeaderMap, Method},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use webhook_core::{
    Error,
    model::{Bucket, Described, Headers, Log, Request},
    relay::ClientAddr,
};

use super::{below_webhook, send};
use crate::{
    PATH,
    form::{Field, Form, Submitted},
    page::{Frame, Reply},
    screen::{Named, On, done, edit::Edit},
    session::Session,
    show,
};

/// The longest body that can be edited in a page.
const MAX_BODY_BYTES: usize = 1 << 20;

/// The parts of a request that can be changed.
#[derive(Default, Described)]
struct Changed {
    #[field]
    method: String,
    #[field]
    path: String,
    #[field]
    query: String,
    #[field]
    headers: Headers,
    #[field]
    body: String,
    #[field]
    base64: bool,
}

fn editing(session: &Session, log: &Log) -> Result<Edit, Error> {
    // What was received, as far as it is known: functions and rules see it again.
    let request = &log.webhook.request;
    if request.body.len() > MAX_BODY_BYTES {
        let reason = "is longer than 1 MiB: download it, change it, and send it with curl";
        return Err(Error::invalid("body", reason));
    }
    let text = std::str::from_utf8(&request.body).ok();
    let body = text.map_or_else(|| STANDARD.encode(&request.body), str::to_owned);
    let id = log.delivery.id;
    let form = Form::new(format!("{PATH}/webhooks/{id}/edit"), "Send").fields([
        Field::text("method", "Method").value(request.method.as_str()),
        Field::text("path", "Path after the input's address").value(request.extra_path.as_str()),
        Field::text("query", "Query").value(request.raw_query.as_str()),
        Field::area("headers", "Headers").rows(8).value(show::header_lines(&request.headers)),
        Field::area("body", "Body").rows(14).value(body),
        Field::check("base64", "The body above is base64").value(text.is_none().to_string()),
    ]);
    let frame = below_webhook(Frame::new(session, "Webhooks", "Edit and send"), log);
    Ok(Edit::new(frame, form).lead(
        "The copy goes to the same input, as if its sender had sent it: function, rules and all \
         outputs.",
    ))
}

pub(crate) async fn show(On(session, log): On<Log>) -> Reply {
    Ok(editing(&session, &log)?.show())
}

pub(crate) async fn submit(
    On(session, log): On<Log>,
    client: Option<Extension<ClientAddr>>,
    submitted: Submitted,
) -> Reply {
    let page = editing(&session, &log)?;
    let bucket_id = log.webhook.bucket_id.to_string();
    let bucket = Bucket::find(&session, &bucket_id).await?;
    let client = client.map(|Extension(client)| client);
    let mut changed = Changed::default();
    let read = page.form.read(&mut changed, &submitted);
    let sent = match read.and_then(|()| request(changed)) {
        Ok(request) => send::send(&session, &bucket, log.webhook.input_id, request, client).await,
        Err(error) => Err(error),
    };
    match sent {
        Ok(()) => Ok(done(&format!("/buckets/{bucket_id}"), "sent")),
        Err(error) => page.refuse(&submitted, error),
    }
}

fn request(changed: Changed) -> Result<Request, Error> {
    let Changed { method, path, query, headers: Headers(headers), body, base64 } = changed;
    let method = Method::from_bytes(method.trim().as_bytes())
        .map_err(|_| Error::invalid("method", "is not a method"))?;
    let body = match base64 {
        true => STANDARD
            .decode(body.split_whitespace().collect::<String>())
            .map_err(|_| Error::invalid("body", "is not base64"))?
            .into(),
        false => body.into(),
    };
    let headers: HeaderMap = headers;
    Ok(Request { method, extra_path: path, raw_query: query, headers, body })
}
