//! The parts of a request as handlers take them, and the refusals of what is malformed.

use std::time::Duration;

use axum::{
    BoxError,
    body::Body,
    extract::{FromRequest, FromRequestParts, Path, Query, Request},
    http::request::Parts,
};
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use tokio::time::timeout;
use webhook_core::{AccountId, Error, ErrorKind, admin::Caller, store::Page};

use crate::{
    api::{error::ApiError, query::PageRequest},
    config::MAX_REPORT_BYTES,
    state::{AppState, permit::RequestPermit, shares::Share},
};

/// How long the body of a management request may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// How deeply objects and arrays of a body may be nested.
const MAX_DEPTH: usize = 100;

/// A JSON object in the body, whatever `Content-Type` says (clients forget it).
///
/// Refused with 400 and the path to the field: malformed JSON, more than
/// 100 levels, wrong types, unknown values of enumerations; with 413: a body over
/// the limit.
#[derive(Debug)]
pub(crate) struct JsonObject<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<AppState> for JsonObject<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, ApiError> {
        let body = Arrived::of(request, state, state.max_request_bytes()).await?;
        parse(&body.bytes).map(Self)
    }
}

/// As [`JsonObject`], for a body that may hold a destination's answer in
/// base64: as long as the longest that is passed on to a waiting sender.
#[derive(Debug)]
pub(crate) struct Report<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<AppState> for Report<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, ApiError> {
        let limit = state.max_request_bytes().max(MAX_REPORT_BYTES);
        let body = Arrived::of(request, state, limit).await?;
        parse(&body.bytes).map(Self)
    }
}

/// A JSON object or nothing at all, as long as a webhook in base64 may be.
#[derive(Debug)]
pub(crate) struct OptionalObject<T>(pub(crate) T);

impl<T: DeserializeOwned + Default> FromRequest<AppState> for OptionalObject<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, ApiError> {
        let limit = state.max_request_bytes().max(MAX_REPORT_BYTES);
        let body = Arrived::of(request, state, limit).await?;
        match body.bytes.trim_ascii() {
            b"" | b"null" => Ok(Self(T::default())),
            json => parse(json).map(Self),
        }
    }
}

/// The body as bytes, within the limit for management requests.
#[derive(Debug)]
pub(crate) struct Raw(pub(crate) Bytes);

impl FromRequest<AppState> for Raw {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, ApiError> {
        let body = Arrived::of(request, state, state.max_request_bytes()).await?;
        Ok(Self(body.bytes))
    }
}

/// The query, every field of which is text that the operation itself checks.
#[derive(Debug)]
pub(crate) struct QueryOf<T>(pub(crate) T);

impl<S, T> FromRequestParts<S> for QueryOf<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(query)) => Ok(Self(query)),
            // Such as a field that is there twice.
            Err(rejection) => {
                let cause = std::error::Error::source(&rejection).map(ToString::to_string);
                let reason = cause.unwrap_or_else(|| rejection.body_text());
                Err(Error::invalid("query", reason).into())
            }
        }
    }
}

/// The page of a list that a query asks for.
#[derive(Debug)]
pub(crate) struct PageOf(pub(crate) Page);

impl<S: Send + Sync> FromRequestParts<S> for PageOf {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let QueryOf(request) = QueryOf::<PageRequest>::from_request_parts(parts, state).await?;
        Ok(Self(request.read()?))
    }
}

/// A complete body, and its part of the memory for all of them.
struct Arrived {
    bytes: Bytes,
    _share: Share<Option<AccountId>>,
}

impl Arrived {
    /// Waits for the body of a request. The request gives its permit back meanwhile, so that
    /// a slow client keeps no other waiting.
    async fn of(request: Request, state: &AppState, max_bytes: usize) -> Result<Self, ApiError> {
        let permit = request.extensions().get::<RequestPermit>().cloned();
        let account = request.extensions().get::<Caller>().map(Caller::account_id);
        let mut share = state.arriving(account);
        if let Some(permit) = &permit {
            permit.give_back();
        }
        let body = Limited::new(request.into_body(), max_bytes);
        let bytes = match timeout(BODY_TIMEOUT, collect(body, &mut share)).await {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(NotWhole::NoRoom)) => {
                let after = Duration::from_secs(1);
                return Err(Error::unavailable("too many bodies at once", after).into());
            }
            Ok(Err(NotWhole::Failed(error))) if error.is::<LengthLimitError>() => {
                let message = format!("body: must be at most {max_bytes} bytes long");
                return Err(ApiError::new(ErrorKind::TooLarge, message));
            }
            Ok(Err(NotWhole::Failed(_))) => {
                return Err(Error::invalid("body", "ended before it was complete").into());
            }
            Err(_) => {
                let reason = format!("did not arrive within {} s", BODY_TIMEOUT.as_secs());
                return Err(Error::invalid("body", reason).into());
            }
        };
        if let Some(permit) = &permit {
            permit.take_again().await?;
        }
        Ok(Self { bytes, _share: share })
    }
}

/// Why a body is not complete.
enum NotWhole {
    NoRoom,
    Failed(BoxError),
}

async fn collect(
    mut body: Limited<Body>,
    share: &mut Share<Option<AccountId>>,
) -> Result<Bytes, NotWhole> {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(NotWhole::Failed)?.into_data() else { continue };
        if !share.grow(data.len()) {
            return Err(NotWhole::NoRoom);
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    // serde reads structs from arrays as well, field by field, which no client means.
    if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return Err(Error::invalid("body", "must be a JSON object").into());
    }
    if depth(bytes) > MAX_DEPTH {
        return Err(Error::invalid("body", format!("is over {MAX_DEPTH} levels deep")).into());
    }
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        // The path is unknown when an object breaks off before its first key.
        let field = if matches!(&*path, "." | "?") { "body" } else { &path };
        match reason(error.inner()) {
            // Rules say themselves where they are wrong.
            reason if reason.starts_with("rules") || reason.starts_with("success_when") => {
                Error::new(ErrorKind::Invalid, reason)
            }
            reason => Error::invalid(field, reason),
        }
    })?;
    deserializer.end().map_err(|error| Error::invalid("body", error))?;
    Ok(value)
}

/// What is wrong with a body, for people. The field says where; the position in the text
/// is given only for what is not JSON.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    if !error.is_data() {
        return text;
    }
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = text.strip_suffix(&place).unwrap_or(&text);
    let Some((found, (lowest, highest))) =
        text.rsplit_once(", expected ").and_then(|(found, wanted)| Some((found, bounds(wanted)?)))
    else {
        return text.to_owned();
    };
    match found.strip_prefix("invalid value: integer `") {
        Some(number) => {
            let number = number.trim_end_matches('`');
            format!("must be between {lowest} and {highest}, not {number}")
        }
        None => format!("{found}, expected a whole number between {lowest} and {highest}"),
    }
}

/// The parser's name of a number type in words.
fn bounds(wanted: &str) -> Option<(i128, i128)> {
    macro_rules! of {
        ($($name:ident),+) => {
            match wanted {
                $(stringify!($name) => Some(($name::MIN.into(), $name::MAX.into())),)+
                "usize" => Some((0, i128::from(u64::MAX))),
                _ => None,
            }
        };
    }
    of!(u8, u16, u32, u64, i8, i16, i32, i64)
}

/// How deeply objects and arrays are nested. The parser's own limit does not count fields
/// that it skips.
fn depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// The identifiers in the path. Text that is no identifier is answered with 404.
#[derive(Debug)]
pub(crate) struct Ids<T>(pub(crate) T);

impl<S, T> FromRequestParts<S> for Ids<T>
where
    S: Send + Sync,
    T: DeserializeOwned + Send,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(ids)) => Ok(Self(ids)),
            Err(_) => Err(ApiError::new(
                ErrorKind::NotFound,
                "path: not found: the ids in it must be UUIDs",
            )),
        }
    }
}

/// As [`Ids`], for operations without 404 in the document: there it is 400, and 404 only as in the
/// hosted product.
#[derive(Debug)]
pub(crate) struct KnownIds<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<AppState> for KnownIds<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        let ids = Ids::from_request_parts(parts, state).await.map(|Ids(ids)| Self(ids));
        match state.is_as_hosted() {
            true => ids,
            false => ids.map_err(ApiError::missing_is_invalid),
        }
    }
}

/// The flags of a query, each set by `NAME=true`. Any other text counts as false: the document has
/// no 400 for these operations, and false deletes and allows less.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flags {
    /// A bucket is deleted with the inputs and outputs that it still has.
    pub(crate) force: bool,
    /// The caller means outputs that lead webhooks back into their own bucket.
    pub(crate) allow_loop: bool,
}

impl<S: Send + Sync> FromRequestParts<S> for Flags {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let query = parts.uri.query().unwrap_or_default();
        let is_set = |flag: &str| {
            let pairs = query.split('&');
            let mut values = pairs.filter_map(|pair| pair.strip_prefix(flag)?.strip_prefix('='));
            let is_true = |value| matches!(value, "1" | "t" | "T" | "true" | "True" | "TRUE");
            values.next_back().is_some_and(is_true)
        };
        Ok(Self { force: is_set("force"), allow_loop: is_set("allow_loop") })
    }
}

#[cfg(test)]
mod tests {
    use webhook_core::model::OutputSpec;

    use super::*;

    fn refusal(json: &str) -> String {
        let error = parse::<OutputSpec>(json.as_bytes()).expect_err(json);
        format!("{error:?}")
    }

    #[test]
    fn refusals_name_the_path() {
        for (json, field) in [
            (r#"{"timeout":"soon"}"#, "timeout: "),
            (r#"{"throttle":{"mode":"slow"}}"#, "throttle.mode: "),
            (r#"{"durability":{"custom_delays":[1,"x"]}}"#, "durability.custom_delays"),
            ("", "body: "),
            ("null", "body: "),
            ("[]", "body: "),
            (r#"{"name":"#, "name: "),
            (r#"{"name":"a"} {}"#, "body: "),
        ] {
            let text = refusal(json);
            assert!(text.contains(&format!("\"{field}")), "{json}: {text}");
        }
    }

    #[test]
    fn bounds_are_said_in_words() {
        #[derive(Debug, Default, serde::Deserialize)]
        #[serde(default)]
        struct Numbers {
            small: u16,
            maybe: Option<u32>,
            signed: i32,
            list: Vec<u8>,
        }
        let said = |json: &str| {
            let error = parse::<Numbers>(json.as_bytes()).expect_err(json);
            format!("{error:?}")
        };
        for (json, text) in [
            (r#"{"small":70000}"#, "small: must be between 0 and 65535, not 70000"),
            (r#"{"small":-1}"#, "small: must be between 0 and 65535, not -1"),
            (r#"{"maybe":4294967296}"#, "maybe: must be between 0 and 4294967295, not 4294967296"),
            (r#"{"list":[1,256]}"#, "list[1]: must be between 0 and 255, not 256"),
            (
                r#"{"signed":2147483648}"#,
                "signed: must be between -2147483648 and 2147483647, not 2147483648",
            ),
            (r#"{"small":1.5}"#, "expected a whole number between 0 and 65535"),
            (r#"{"small":"7"}"#, "small: invalid type: string "),
        ] {
            let said = said(json);
            assert!(said.contains(text), "{json}: {said}");
            assert!(!said.contains("u16") && !said.contains("column"), "{json}: {said}");
        }
        // Text that is not JSON has no field.
        assert!(said("{\"small\":}").contains("line 1 column 10"));
    }

    #[test]
    fn depth_is_bounded() {
        for field in ["rules", "unknown"] {
            let nested = |levels: usize| {
                format!(r#"{{"{field}":{}1{}}}"#, "[".repeat(levels), "]".repeat(levels))
            };
            assert!(refusal(&nested(100_000)).contains("100 levels deep"));
            assert_eq!(depth(nested(99).as_bytes()), MAX_DEPTH);
        }
        assert!(parse::<OutputSpec>(br#"{"unknown":[[[[]]]]}"#).is_ok());
        assert_eq!(depth(br#"{"a":"[[[\"[[[","b":[{}]}"#), 3, "text does not count");
    }
}
