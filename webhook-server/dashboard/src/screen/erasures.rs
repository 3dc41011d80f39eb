//! Erasures of many webhooks: which, how many these are, and how far one has come.

use askama::Template;
use axum::{Router, http::StatusCode, routing::get};
use webhook_core::model::{Erasure, ErasurePlan, ErasureSpec};

use super::{
    Asked, On, done,
    edit::refusal,
    replays::{filter_fields, further_filter_fields, mark, with_filter},
};
use crate::{
    Dashboard, PATH,
    form::{Form, Submitted},
    page::{Frame, Reply, page, page_with},
    session::Session,
    show::{self, Mark},
};

pub(crate) fn router() -> Router<Dashboard> {
    Router::new()
        .route("/erasures/new", get(show_new).post(submit))
        .route("/erasures/{erasure}", get(one))
}

#[derive(Template)]
#[template(path = "erasure_new.html")]
struct New {
    frame: Frame,
    plan: Option<ErasurePlan>,
    form: Form,
}

#[derive(Template)]
#[template(path = "erasure.html")]
struct One {
    frame: Frame,
    mark: Mark,
    started: String,
    running: bool,
    in_flight: usize,
    erasure: Erasure,
}

fn frame(session: &Session, title: &str) -> Frame {
    Frame::new(session, "Webhooks", title).below("Webhooks", "/webhooks")
}

/// The form. The button that erases comes after a count.
async fn new(session: &Session) -> Result<New, crate::page::Problem> {
    let buckets = session.admin().buckets(&session.caller).await?;
    let form = Form::new(format!("{PATH}/erasures/new"), "Count them")
        .fields(filter_fields(&buckets, "What comes later is never erased."))
        .section("More")
        .fields(further_filter_fields())
        .filled(&ErasureSpec::default());
    Ok(New { frame: frame(session, "Erase webhooks"), plan: None, form })
}

async fn show_new(session: Session, asked: Asked) -> Reply {
    let mut page_ = new(&session).await?;
    page_.form = with_filter(page_.form, &asked);
    Ok(page(&page_))
}

async fn submit(session: Session, submitted: Submitted) -> Reply {
    let (admin, caller) = (session.admin(), &session.caller);
    let mut page_ = new(&session).await?;
    let mut spec = ErasureSpec::default();
    let read = page_.form.read(&mut spec, &submitted).map(|()| spec);
    let error = match read {
        Ok(spec) if submitted.text("then") == "erase" => {
            match admin.create_erasure(caller, spec).await {
                Ok(made) => return Ok(done(&format!("/erasures/{}", made.id), "created")),
                Err(error) => error,
            }
        }
        Ok(spec) => match admin.plan_erasure(caller, spec).await {
            Ok(plan) => {
                page_.form = page_.form.retyped(&submitted, None);
                if plan.found > 0 {
                    page_.form = page_.form.also("erase", "Erase them for good");
                }
                page_.plan = Some(plan);
                return Ok(page_with(StatusCode::OK, &page_));
            }
            Err(error) => error,
        },
        Err(error) => error,
    };
    let (status, error) = refusal(error)?;
    page_.form = page_.form.refused(&submitted, &error);
    Ok(page_with(status, &page_))
}

async fn one(On(session, erasure): On<Erasure>, asked: Asked) -> Reply {
    Ok(page(&One {
        frame: frame(&session, "Erasure").noticing(asked.get("done")),
        mark: mark(erasure.status),
        started: show::moment(erasure.created_at),
        running: erasure.finished_at.is_none(),
        in_flight: erasure.in_flight.len(),
        erasure,
    }))
}
