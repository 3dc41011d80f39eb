//! The answers to handshakes.

use http::{HeaderMap, HeaderName, HeaderValue, header};
use ring::hmac;
use serde_json::Value;

use crate::{
    Action, Condition, Handshake, HandshakeAction, Reason,
    context::{Context, describe},
    secret::same,
    template::{Reference, Scope, Template},
};

/// A token that is echoed is at most this long.
const MAX_ECHO_BYTES: usize = 1024;
/// A token that is answered with an HMAC is at most this long.
const MAX_HMAC_BYTES: usize = 256;
/// A URL that is fetched is at most this long.
const MAX_URL_BYTES: usize = 2048;

/// What a handshake is answered. The request goes no further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// The status.
    pub status: u16,
    /// The headers, `Content-Type` and `X-Content-Type-Options` among them.
    pub headers: HeaderMap,
    /// The body.
    pub body: Vec<u8>,
    /// What is to be done first; if it fails, the answer is 503.
    pub action: Option<Action>,
}

/// A handshake whose templates can be read.
#[derive(Debug)]
pub(crate) struct CompiledHandshake {
    pub(crate) spec: Handshake,
    headers: Vec<(HeaderName, Template)>,
    text: Template,
    /// The templates in the JSON of the answer, in the order in which they stand there.
    json: Vec<Template>,
}

impl CompiledHandshake {
    /// Reads the templates; the error is the part and what is wrong with it.
    pub(crate) fn new(spec: &Handshake) -> Result<Self, (&'static str, String)> {
        let answer = &spec.answer;
        if !answer.text.is_empty() && answer.json.is_some() {
            return Err(("answer", "has both text and json".to_owned()));
        }
        let header = |(name, text): (&String, &String)| {
            let wrong = |reason: String| ("answer.headers", format!("{name} {reason}"));
            let parsed = HeaderName::try_from(name)
                .map_err(|_| wrong("is not the name of a header".to_owned()))?;
            let framed = [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION];
            if framed.contains(&parsed) || parsed == header::SET_COOKIE {
                return Err(wrong("must not be set".to_owned()));
            }
            Ok((parsed, Template::parse(text).map_err(wrong)?))
        };
        let headers: Result<Vec<_>, _> = answer.headers.iter().map(header).collect();
        let mut json = Vec::new();
        let mut first_error = None;
        let mut filled = answer.json.clone().unwrap_or_default();
        for_each_text(&mut filled, &mut |text| match Template::parse(text) {
            Ok(template) => json.push(template),
            Err(reason) => first_error = Some(reason),
        });
        if let Some(reason) = first_error {
            return Err(("answer.json", reason));
        }
        let text = Template::parse(&answer.text).map_err(|reason| ("answer.text", reason))?;
        Ok(Self { spec: spec.clone(), headers: headers?, text, json })
    }

    fn templates(&self) -> impl Iterator<Item = &Template> {
        let headers = self.headers.iter().map(|(_, template)| template);
        headers.chain(&self.json).chain([&self.text])
    }

    pub(crate) fn has_hmac(&self) -> bool {
        self.templates().any(Template::has_hmac)
    }

    pub(crate) fn refers_to_token(&self) -> bool {
        self.templates().any(|template| template.refers_to(&Reference::Token))
    }

    /// Whether all that the answer refers to is what its sender knows anyway, or a parameter.
    pub(crate) fn has_what_answers_may_have(&self) -> bool {
        self.templates().flat_map(Template::references).all(|reference| {
            matches!(reference, Reference::Token | Reference::Endpoint | Reference::Parameter(_))
        })
    }

    /// Whether `context` is this handshake.
    pub(crate) fn applies(&self, context: &Context<'_>) -> bool {
        self.spec.when.iter().all(|condition| holds(condition, context) == Ok(true))
    }

    /// The answer; `may_fetch` says what URLs the scheme allows.
    pub(crate) fn answer(
        &self,
        context: &Context<'_>,
        hmac: Option<&hmac::Key>,
        may_fetch: impl Fn(&str) -> Option<String>,
    ) -> Option<Challenge> {
        let Handshake { when: _, signed, token, answer, action } = &self.spec;
        let token = match token {
            Some(field) => Some(context.value(field).ok()?),
            None => None,
        };
        if let Some(token) = &token {
            let is_harmless = match (self.has_hmac(), action) {
                (_, Some(HandshakeAction::Fetch)) => token.len() <= MAX_URL_BYTES,
                // What could be a text that somebody signs gets no HMAC.
                (true, _) if !signed => is_opaque(token),
                _ => is_printable(token),
            };
            if !is_harmless {
                return None;
            }
        }
        let action = match (action, &token) {
            (Some(HandshakeAction::Fetch), Some(url)) => {
                Some(Action::Fetch { url: may_fetch(url)? })
            }
            (Some(HandshakeAction::StoreSecret), Some(secret)) => {
                Some(Action::StoreSecret(crate::Secret::new(secret)))
            }
            _ => None,
        };
        let scope = Scope { token: token.as_deref(), hmac, ..Scope::default() };
        let mut headers = HeaderMap::new();
        let mut body = self.text.to_bytes(context, &scope).ok()?;
        let mut kind = "text/plain; charset=utf-8";
        if let Some(json) = &answer.json {
            let mut filled = json.clone();
            let mut templates = self.json.iter();
            let mut whole = true;
            for_each_text(&mut filled, &mut |text| {
                let bytes = templates.next().map(|template| template.to_bytes(context, &scope));
                match bytes.and_then(Result::ok).map(String::from_utf8) {
                    Some(Ok(value)) => *text = value,
                    _ => whole = false,
                }
            });
            if !whole {
                return None;
            }
            body = serde_json::to_vec(&filled).ok()?;
            kind = "application/json";
        }
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        for (name, template) in &self.headers {
            let value = template.to_bytes(context, &scope).ok()?;
            headers.insert(name, HeaderValue::from_bytes(&value).ok()?);
        }
        let status = if answer.status == 0 { 200 } else { answer.status };
        Some(Challenge { status, headers, body, action })
    }
}

/// Whether a condition holds.
pub(crate) fn holds(condition: &Condition, context: &Context<'_>) -> Result<bool, Reason> {
    let Condition { source, name, equals, parameter, absent } = condition;
    if *absent {
        return Ok(!context.has(*source, name)?);
    }
    let expected = match (equals, parameter) {
        (Some(equals), _) => equals.as_str(),
        (None, Some(parameter)) => match context.parameters.get(parameter) {
            Some(value) => value.expose(),
            None => return Ok(false),
        },
        (None, None) => return context.has(*source, name),
    };
    let found = context.text(*source, name)?;
    Ok(found.is_some_and(|found| same(expected.as_bytes(), found.as_bytes())))
}

/// Says that a condition does not hold.
pub(crate) fn unmet(condition: &Condition, context: &Context<'_>) -> Reason {
    let what = describe(condition.source, &condition.name);
    match context.has(condition.source, &condition.name) {
        Ok(false) => Reason::Missing(what),
        _ => Reason::Unexpected(what),
    }
}

fn is_opaque(token: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'~' | b'-');
    (1..=MAX_HMAC_BYTES).contains(&token.len()) && token.bytes().all(allowed)
}

fn is_printable(token: &str) -> bool {
    let length = 1..=MAX_ECHO_BYTES;
    length.contains(&token.len()) && token.bytes().all(|b| matches!(b, b' '..=b'~'))
}

/// Calls `act` with each text in a JSON value.
pub(crate) fn for_each_text(value: &mut Value, act: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => act(text),
        Value::Array(values) => values.iter_mut().for_each(|value| for_each_text(value, act)),
        Value::Object(fields) => fields.values_mut().for_each(|value| for_each_text(value, act)),
        _ => {}
    }
}
