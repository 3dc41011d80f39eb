//! Searching logs: what is asked, whether a log is it, and how far one call looks.

use std::{
    fmt,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method, header::CONTENT_ENCODING};

use super::{LogCursor, LogQuery, tally::counted_as};
use crate::{
    content,
    error::{Error, invalid_if},
    id::{InputId, OutputId, ReplayId},
    model::{Log, Reason, Request},
    rule::{Rule, Rules, Subject},
};

/// How short text is that is searched for: shorter text is in everything.
const MIN_TEXT_BYTES: usize = 3;
/// How long text in a filter may be.
const MAX_TEXT_BYTES: usize = 256;

/// What a log has to be like, beside what a [`LogQuery`] says; of nothing, anything.
///
/// Text is found wherever it begins, and ASCII letters match in either case. What a function
/// made of a webhook counts as well as what was received; of the answer and of the error
/// what the log has.
///
/// ```
/// use webhook_core::store::LogFilter;
///
/// let mut filter = LogFilter::default();
/// filter.status_code = Some(500..=599);
/// filter.set_header("X-GitHub-Event:push")?;
/// filter.set_payload("repository.name:webhooks")?;
/// filter.set_text("refs/heads/main")?;
///
/// assert_eq!(
///     filter.set_text("ma").expect_err("it is too short").to_string(),
///     "search: must be 3 to 256 bytes long"
/// );
/// # Ok::<(), webhook_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LogFilter {
    /// Received with this method.
    pub method: Option<Method>,
    /// What followed the input's address has this in it.
    pub path: Option<String>,
    /// The last attempt came to one of these; 0 is no answer.
    pub status_code: Option<std::ops::RangeInclusive<u16>>,
    /// Received at this input.
    pub input_id: Option<InputId>,
    /// For one of these outputs; empty for any.
    pub outputs: Vec<OutputId>,
    /// The last attempt took so long at least.
    pub min_duration: Option<Duration>,
    /// Stopped or failed for this reason.
    pub reason: Option<Reason>,
    /// Made by this replay.
    pub replay_id: Option<ReplayId>,
    /// Verified by its input, or refuted; where the input does not verify it is neither.
    pub verified: Option<bool>,
    header: Option<(HeaderName, Bytes)>,
    payload: Option<Rules>,
    text: Option<Bytes>,
}

impl LogFilter {
    /// Only logs with a header of this name that has the text in it: `Name:text`. Without
    /// text the header has to be there.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid) when it is not of that form.
    pub fn set_header(&mut self, header: &str) -> Result<(), Error> {
        let (name, text) = pair("header", "Name:text", header)?;
        let name = HeaderName::from_bytes(name.as_bytes());
        let name = name.map_err(|_| Error::invalid("header", "is not a header's name"))?;
        self.header = Some((name, Bytes::copy_from_slice(text.as_bytes())));
        Ok(())
    }

    /// Only logs whose body has the text at a place, as rules name places: `path:text`.
    /// Without text something has to be there.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid) when it is not of that form.
    pub fn set_payload(&mut self, payload: &str) -> Result<(), Error> {
        let (path, text) = pair("payload", "path:text", payload)?;
        let rule = Rule::payload(path).matches(either_case(text));
        let rules = Rules::try_from(rule);
        self.payload =
            Some(rules.map_err(|_| Error::invalid("payload", "is no path into a body"))?);
        Ok(())
    }

    /// Only logs with this in the path, the query, the headers (a line `name: value` for each
    /// value), the body, the answer or the error.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid) for less than 3 bytes, and for more than 256.
    pub fn set_text(&mut self, text: impl AsRef<[u8]>) -> Result<(), Error> {
        let text = text.as_ref();
        let reason = format_args!("must be {MIN_TEXT_BYTES} to {MAX_TEXT_BYTES} bytes long");
        invalid_if(!(MIN_TEXT_BYTES..=MAX_TEXT_BYTES).contains(&text.len()), "search", reason)?;
        self.text = Some(Bytes::copy_from_slice(text));
        Ok(())
    }

    /// Whether it asks for anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether `log` is like that. What is cheap is asked first.
    #[must_use]
    pub fn matches(&self, log: &Log) -> bool {
        let Log { webhook, delivery } = log;
        let last = delivery.last.as_ref();
        let requests =
            || [Some(&webhook.request), delivery.processed.as_ref()].into_iter().flatten();
        let some = |test: &dyn Fn(&Request) -> bool| requests().any(test);
        self.input_id.is_none_or(|input| input == webhook.input_id)
            && (self.outputs.is_empty()
                || delivery.output_id.is_some_and(|output| self.outputs.contains(&output)))
            && self.reason.is_none_or(|reason| delivery.reason == Some(reason))
            && self
                .replay_id
                .is_none_or(|id| delivery.replay.as_ref().is_some_and(|it| it.id == id))
            && self.verified.is_none_or(|verified| webhook.checks.verified == Some(verified))
            && self.method.as_ref().is_none_or(|method| *method == webhook.request.method)
            && self.status_code.as_ref().is_none_or(|codes| {
                // What was never attempted came to nothing, not to no answer.
                delivery.attempts > 0 && last.is_some_and(|last| codes.contains(&last.status_code))
            })
            && self.min_duration.is_none_or(|least| last.is_some_and(|last| last.duration >= least))
            && self.path.as_ref().is_none_or(|path| {
                some(&|request| contains(request.extra_path.as_bytes(), path.as_bytes()))
            })
            && self.header.as_ref().is_none_or(|(name, text)| {
                some(&|request| {
                    request.headers.get_all(name).iter().any(|it| contains(it.as_bytes(), text))
                })
            })
            && self
                .payload
                .as_ref()
                .is_none_or(|rules| some(&|request| rules.matches(&Subject::new(request))))
            && self.text.as_ref().is_none_or(|text| {
                some(&|request| is_in_request(request, text))
                    || last.is_some_and(|last| {
                        is_in_body(&last.response_headers, &last.response_body, text)
                            || is_in_headers(&last.response_headers, text)
                            || last.error.as_ref().is_some_and(|it| contains(it.as_bytes(), text))
                    })
            })
    }
}

fn has_compressed(log: &Log) -> bool {
    let answered = log.delivery.last.as_ref().map(|last| &last.response_headers);
    let mut headers = [Some(&log.webhook.request.headers), answered].into_iter().flatten();
    headers.any(|headers| headers.contains_key(CONTENT_ENCODING))
}

fn is_in_request(request: &Request, text: &[u8]) -> bool {
    contains(request.extra_path.as_bytes(), text)
        || contains(request.raw_query.as_bytes(), text)
        || is_in_headers(&request.headers, text)
        || is_in_body(&request.headers, &request.body, text)
}

/// Whether a body has the text, as it came or decoded.
fn is_in_body(headers: &HeaderMap, body: &[u8], text: &[u8]) -> bool {
    contains(body, text)
        || content::decoded(headers, body).is_some_and(|it| contains(&it.bytes, text))
}

fn is_in_headers(headers: &HeaderMap, text: &[u8]) -> bool {
    let mut line = Vec::new();
    headers.iter().any(|(name, value)| {
        line.clear();
        line.extend_from_slice(name.as_str().as_bytes());
        line.extend_from_slice(b": ");
        line.extend_from_slice(value.as_bytes());
        contains(&line, text)
    })
}

/// Whether `text` is in `within`, ASCII letters in either case.
fn contains(within: &[u8], text: &[u8]) -> bool {
    let Some((first, rest)) = text.split_first() else { return true };
    let Some(last) = within.len().checked_sub(rest.len()) else { return false };
    let starts = within.get(..last).unwrap_or_default();
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    memchr::memchr2_iter(lower, upper, starts).any(|at| {
        let there = within.get(at + 1..at + 1 + rest.len());
        there.is_some_and(|there| there.eq_ignore_ascii_case(rest))
    })
}

/// What comes before the first colon, and after it.
fn pair<'t>(field: &str, form: &str, text: &'t str) -> Result<(&'t str, &'t str), Error> {
    let (name, value) = text
        .split_once(':')
        .filter(|(name, _)| !name.trim().is_empty())
        .ok_or_else(|| Error::invalid(field, format!("must be {form}")))?;
    let reason = format_args!("must have at most {MAX_TEXT_BYTES} bytes of text");
    invalid_if(value.len() > MAX_TEXT_BYTES, field, reason)?;
    Ok((name, value))
}

/// The regex that finds `text`, ASCII letters in either case.
fn either_case(text: &str) -> String {
    let mut regex = String::with_capacity(text.len() * 4);
    for letter in text.chars() {
        match letter {
            'a'..='z' | 'A'..='Z' => {
                regex.push('[');
                regex.push(letter.to_ascii_lowercase());
                regex.push(letter.to_ascii_uppercase());
                regex.push(']');
            }
            '0'..='9' => regex.push(letter),
            letter => regex.push_str(&format!("\\x{{{:x}}}", u32::from(letter))),
        }
    }
    regex
}

/// How far one call looks. At least one batch of logs is looked at, so that a search goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanBounds {
    /// How many bytes of webhooks and answers.
    pub max_bytes: usize,
    /// How long.
    pub max_time: Duration,
}

/// A search: which logs of [`query`](Self::query) pass [`filter`](Self::filter).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LogSearch {
    /// Which logs are looked at; `limit` counts those that are found, `offset` does not count.
    pub query: LogQuery,
    /// Which of them are found.
    pub filter: LogFilter,
    /// How far this call looks.
    pub bounds: ScanBounds,
    /// Which it looks at first.
    pub order: LogOrder,
}

/// Which logs a search looks at first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogOrder {
    /// The newest, from the [`before`](LogQuery::before) of the query on.
    #[default]
    NewestFirst,
    /// The oldest of those after this place.
    OldestFirst(Option<LogCursor>),
}

impl LogSearch {
    /// A search in the logs of `query`.
    #[must_use]
    pub const fn new(query: LogQuery, filter: LogFilter, bounds: ScanBounds) -> Self {
        Self { query, filter, bounds, order: LogOrder::NewestFirst }
    }
}

/// What a call found.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LogsFound {
    /// The logs, newest first or in the order that was asked for.
    pub logs: Vec<Log>,
    /// The last place that was looked at: the `before` of the next call.
    pub scanned_until: Option<LogCursor>,
    /// Whether there is nothing further to look at.
    pub complete: bool,
}

/// A search under way, for who implements
/// [`search`](super::LogStore::search): it is given log after log, in the order of the search, and says when to stop.
pub struct Scan<'s> {
    search: &'s LogSearch,
    started: Instant,
    bytes: usize,
    found: LogsFound,
}

impl<'s> Scan<'s> {
    /// A search that begins.
    #[must_use]
    pub fn new(search: &'s LogSearch) -> Self {
        Self { search, started: Instant::now(), bytes: 0, found: LogsFound::default() }
    }

    /// Where the next batch of newer logs ends.
    #[must_use]
    pub fn before(&self) -> Option<LogCursor> {
        match self.search.order {
            LogOrder::NewestFirst => self.found.scanned_until.or(self.search.query.before),
            LogOrder::OldestFirst(_) => self.search.query.before,
        }
    }

    /// After which place the next batch begins, when the oldest come first.
    #[must_use]
    pub fn after(&self) -> Option<LogCursor> {
        match self.search.order {
            LogOrder::NewestFirst => None,
            LogOrder::OldestFirst(after) => self.found.scanned_until.or(after),
        }
    }

    /// Looks at a log, which may have any status: the store may read more than those of the query.
    /// It is not to be given one when this said no.
    pub fn look(&mut self, log: Log) -> bool {
        let answer = log.delivery.last.as_ref().map_or(0, |last| last.response_body.len());
        let processed = log.delivery.processed.as_ref().map_or(0, |it| it.size_bytes());
        let received = log.webhook.request.size_bytes();
        self.bytes = self.bytes.saturating_add(received + answer + processed);
        // Those take time that the loaded bytes do not tell.
        let is_compressed = has_compressed(&log);
        self.found.scanned_until = Some(LogCursor::of(&log));
        let status = self.search.query.status.map(counted_as);
        let has_status = status.is_none_or(|it| it == counted_as(log.delivery.status));
        if has_status && self.search.filter.matches(&log) {
            self.found.logs.push(log);
        }
        self.found.logs.len() < self.search.query.limit
            && self.bytes < self.search.bounds.max_bytes
            && (!is_compressed || self.has_time())
    }

    /// Passes over a log that cannot be read.
    pub const fn skip(&mut self, place: LogCursor) {
        self.found.scanned_until = Some(place);
    }

    /// Whether there is time for another batch.
    #[must_use]
    pub fn has_time(&self) -> bool {
        self.started.elapsed() < self.search.bounds.max_time
    }

    /// What was found. `complete`: there is nothing older.
    #[must_use]
    pub fn end(mut self, complete: bool) -> LogsFound {
        self.found.complete = complete;
        self.found
    }
}

impl fmt::Debug for Scan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}
