//! The rules of an output as a tree, tried on stored webhooks.
//!
//! The tree is a form, and its buttons send all of it: what is built is in the page and
//! nowhere else until it is saved.

mod draft;
mod node;
mod sample;
mod sentence;

use askama::Template;
use axum::http::StatusCode;
use serde_json::Value;
use webhook_core::{
    Error, ErrorKind, Rules, Subject,
    model::{Output, OutputSpec},
};

use self::{
    draft::{Change, Draft, Place},
    node::{Node, Said},
    sample::{Count, Samples},
};
use crate::{
    form::Submitted,
    page::{Frame, Reply, page_with},
    screen::{Asked, done, edit::refusal, of_bucket::At},
    show,
};

/// How many rules are shown as a tree, so that the page is not too long; more are JSON only.
const MAX_SHOWN: usize = 40;

#[derive(Template)]
#[template(path = "rules.html")]
struct Builder {
    frame: Frame,
    action: String,
    sentence: String,
    samples: Vec<(String, String, bool)>,
    verdict: Option<Verdict>,
    /// Why there is none, though there is a webhook.
    untried: &'static str,
    count: Option<Count>,
    tree: Option<Node>,
    json: String,
    error: Option<String>,
}

/// What the rules say about a webhook.
struct Verdict {
    mark: show::Mark,
    why: String,
}

/// What is to be shown.
struct View {
    draft: Draft,
    /// What is typed as JSON, when that is not the tree's.
    json: Option<String>,
    sample: String,
    focus: Option<Place>,
    counted: bool,
    error: Option<Error>,
    notice: Option<String>,
}

impl View {
    fn of(draft: Draft, sample: &str) -> Self {
        let sample = sample.to_owned();
        Self { draft, json: None, sample, focus: None, counted: false, error: None, notice: None }
    }
}

fn rules_of(draft: &Draft) -> Result<Rules, Error> {
    read(&draft.json())
}

fn read(json: &Value) -> Result<Rules, Error> {
    let rules = serde_path_to_error::deserialize(json);
    rules.map_err(|error| Error::new(ErrorKind::Invalid, error.into_inner().to_string()))
}

async fn page(at: &At<Output>, view: View) -> Reply {
    let At { session, bucket, it: output } = at;
    let (mut status, mut error) = match view.error {
        Some(error) => refusal(error).map(|(status, error)| (status, Some(error)))?,
        None => (StatusCode::OK, None),
    };
    let rules = rules_of(&view.draft);
    let samples = Samples::read(session, bucket, &view.sample).await?;
    let tried = samples.tried.as_ref();
    let is_refused = error.is_some();
    let mut explained = None;
    let mut count = None;
    match &rules {
        Ok(rules) => {
            explained = tried.map(|log| rules.explain(&Subject::from(&log.webhook)));
            if view.counted {
                count = Some(sample::count(session, bucket, rules).await?);
            }
        }
        Err(wrong) if error.is_none() => {
            error = Some(Error::new(ErrorKind::Invalid, wrong.to_string()));
            // A draft that is not whole yet is no mistake, but a count of it is.
            if view.counted {
                status = StatusCode::BAD_REQUEST;
            }
        }
        Err(_) => {}
    }
    let said = Said::of(error.as_ref(), view.focus);
    let is_shown = view.draft.count() <= MAX_SHOWN;
    let frame = at.frame(format!("Rules of {}", output.spec.name));
    let builder = Builder {
        frame: frame.noticing(view.notice.as_deref()),
        action: format!("{}/rules", at.path()),
        sentence: sentence::sentence(&view.draft),
        samples: samples.options(),
        untried: match (tried, &rules) {
            (Some(_), Err(_)) => "It is tried when the rules are whole.",
            (None, _) if !view.sample.is_empty() => {
                "The webhook is not there, or its content is forgotten."
            }
            _ => "",
        },
        verdict: explained.as_ref().map(|explained| Verdict {
            mark: node::passed(explained.outcome),
            why: explained.text(),
        }),
        count,
        tree: is_shown.then(|| Node::root(&view.draft, explained.as_ref(), &said)),
        json: view.json.unwrap_or_else(|| {
            serde_json::to_string_pretty(&view.draft.short_json()).unwrap_or_default()
        }),
        // Of what is being built, what is missing is said where it is missing.
        error: error.filter(|_| is_refused || !said.has_place()).map(|error| error.to_string()),
    };
    Ok(page_with(status, &builder))
}

pub(super) async fn show(at: At<Output>, asked: Asked) -> Reply {
    let draft = Draft::of_rules(&at.it.spec.rules);
    let mut view = View::of(draft, asked.text("sample"));
    view.notice = asked.get("done").map(str::to_owned);
    page(&at, view).await
}

/// What a button of the page does: of the tree, or of the JSON beside it.
pub(super) async fn submit(at: At<Output>, submitted: Submitted) -> Reply {
    let mut view = match drafted(&at.it, &submitted) {
        Ok(draft) => View::of(draft, submitted.text("sample")),
        Err(error) => {
            let stored = Draft::of_rules(&at.it.spec.rules);
            let mut view = View::of(stored, submitted.text("sample"));
            view.json = submitted.get("json").map(str::to_owned);
            view.error = Some(error);
            return page(&at, view).await;
        }
    };
    let (word, place) = submitted.text("do").split_once(':').unwrap_or((submitted.text("do"), ""));
    match word {
        "save" => {
            let saved = match read(&view.draft.short_json()) {
                Ok(_) => put(&at, &view.draft).await,
                // With the places that the tree has.
                Err(error) => Err(rules_of(&view.draft).err().unwrap_or(error)),
            };
            match saved {
                Ok(()) => {
                    return Ok(done(&format!("{}/rules", at.place()), "saved"));
                }
                Err(error) => view.error = Some(error),
            }
        }
        "count" => view.counted = true,
        word => {
            let place: Option<Place> = place
                .split('.')
                .filter(|part| !part.is_empty())
                .map(|it| it.parse().ok())
                .collect();
            if let (Some(change), Some(place)) = (Change::of(word), place) {
                view.focus = view.draft.change(change, &place);
            }
        }
    }
    page(&at, view).await
}

/// What is built: the JSON where that was sent, else the tree.
fn drafted(output: &Output, submitted: &Submitted) -> Result<Draft, Error> {
    if let Some(json) = submitted.get("json") {
        let text = if json.trim().is_empty() { "{}" } else { json };
        let json: Value = serde_json::from_str(text)
            .map_err(|error| Error::invalid("rules", format!("are no JSON: {error}")))?;
        // The tree has only what rules can be.
        read(&json)?;
        return Ok(Draft::of(&json));
    }
    let fields = submitted.all().collect();
    match Draft::submitted(&fields) {
        Some(draft) => Ok(draft),
        None if submitted.has("rule") => Err(Error::invalid("rules", "are no tree")),
        None => Ok(Draft::of_rules(&output.spec.rules)),
    }
}

async fn put(at: &At<Output>, draft: &Draft) -> Result<(), Error> {
    let rules = read(&draft.short_json())?;
    let admin = at.session.admin();
    admin.put_rules(&at.session.caller, at.bucket.id, at.it.id, rules).await?;
    Ok(())
}

/// How they stand, in a few words.
pub(in crate::screen) fn state(spec: &OutputSpec) -> String {
    match Draft::of_rules(&spec.rules).short_json() {
        Value::Object(rules) if rules.is_empty() => "every webhook passes".to_owned(),
        rules => sentence::sentence(&Draft::of(&rules)).chars().take(120).collect(),
    }
}
