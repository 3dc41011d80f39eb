//! Searching logs.

use std::{ops::Range, time::Duration};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use webhook_core::{
    AccountId, NodeId,
    model::{Attempt, DeliveryStatus, Log, Reason, Request},
    store::{
        ClientReport, LogCursor, LogFilter, LogQuery, LogSearch, LogsFound, ScanBounds, Settle,
        Stores,
    },
};

use super::{Outcome, Place, cursors, oracle::walk, report, reversed};
use crate::{
    delivery::Queued,
    sample::{NOW, after, with},
};

const WIDE: ScanBounds = ScanBounds { max_bytes: 1 << 30, max_time: Duration::from_secs(600) };

async fn ask(stores: &Stores, account: AccountId, search: &LogSearch) -> LogsFound {
    stores.logs.search(account, search).await.expect("logs can be searched")
}

/// What one call without bounds finds.
async fn found(stores: &Stores, account: AccountId, filter: LogFilter) -> Vec<LogCursor> {
    let search = LogSearch::new(LogQuery::new(1_000), filter, WIDE);
    let found = ask(stores, account, &search).await;
    assert!(found.complete, "nothing is left to look at");
    cursors(&found.logs)
}

fn text(text: &[u8]) -> LogFilter {
    with(LogFilter::default(), |filter| filter.set_text(text).expect("it is long enough"))
}

/// Numbers that are the same on every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % limit
    }

    /// Bytes of which some meet often and some are no UTF-8.
    fn bytes(&mut self, length: Range<usize>, alphabet: &[u8]) -> Vec<u8> {
        let length = length.start + self.below(length.len());
        (0..length).map(|_| alphabet[self.below(alphabet.len())]).collect()
    }

    fn text(&mut self, length: Range<usize>) -> String {
        String::from_utf8(self.bytes(length, b"aAbB%_'\\.")).expect("it is ASCII")
    }
}

/// Stores a webhook with content of every kind, and what an attempt brought.
async fn store_any(stores: &Stores, place: Place, number: u64, numbers: &mut Numbers) {
    let node = NodeId::generate();
    let delivery = with(place.to_public(), |delivery| delivery.held_by = Some(node));
    let mut webhook = place.webhook(after(number));
    webhook.request.body = numbers.bytes(0..60, b"abAB\x00\xff\xc3\xa9%_").into();
    webhook.request.extra_path = format!("/{}", numbers.text(0..12));
    webhook.request.raw_query = numbers.text(0..12);
    let value = HeaderValue::from_str(&numbers.text(0..12)).expect("a header value");
    webhook.request.headers.append("x-any", value);
    let deliveries = [delivery];
    crate::delivery::accept(stores, &webhook, &deliveries).await;
    let queued = Queued::from((&webhook, &deliveries[0]));
    let processed = (numbers.below(2) == 0)
        .then(|| Request { body: numbers.bytes(0..20, b"cdCD").into(), ..webhook.request.clone() });
    let settle = with(
        Settle::new(queued.id, queued.origin, node, after(number), DeliveryStatus::Failed),
        |settle| {
            settle.attempts = 1;
            settle.processed = processed.map(Into::into);
            settle.attempt = Attempt {
                status_code: 500,
                response_body: Bytes::from(numbers.bytes(0..40, b"efEF\xfe")),
                error: Some(numbers.text(0..12)),
                ..Attempt::default()
            }
            .into();
        },
    );
    stores.deliveries.settle(settle).await.expect("it is pending");
}

/// All that can be found of a log, as the interface describes it.
fn parts(log: &Log) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    let requests = [Some(&log.webhook.request), log.delivery.processed.as_ref()];
    let lines = |headers: &http::HeaderMap| -> Vec<Vec<u8>> {
        let line = |(name, value): (&HeaderName, &HeaderValue)| {
            [name.as_str().as_bytes(), b": ", value.as_bytes()].concat()
        };
        headers.iter().map(line).collect()
    };
    for request in requests.into_iter().flatten() {
        parts.push(request.extra_path.clone().into_bytes());
        parts.push(request.raw_query.clone().into_bytes());
        parts.push(request.body.to_vec());
        parts.extend(lines(&request.headers));
    }
    if let Some(last) = &log.delivery.last {
        parts.push(last.response_body.to_vec());
        parts.push(last.error.clone().unwrap_or_default().into_bytes());
        parts.extend(lines(&last.response_headers));
    }
    parts
}

/// The naive search: every window of every part.
fn has(log: &Log, text: &[u8]) -> bool {
    let lower = text.to_ascii_lowercase();
    parts(log)
        .iter()
        .any(|part| part.to_ascii_lowercase().windows(lower.len()).any(|window| window == lower))
}

/// Any three bytes or more of what is stored find the log, in either case of ASCII, and
/// nothing is found that does not have them.
pub async fn every_webhook_is_found_by_any_part_of_it(stores: &Stores) {
    let (place, mut numbers) = (Place::new(), Numbers(20));
    for number in 0..24 {
        store_any(stores, place, number, &mut numbers).await;
    }
    let all = walk(stores, place.account, LogQuery::new(100)).await;
    assert_eq!(all.len(), 24);
    let mut asked = 0;
    for log in &all {
        for part in parts(log).into_iter().filter(|part| part.len() >= 3) {
            let start = numbers.below(part.len() - 2);
            let length = 3 + numbers.below(part.len() - start - 2);
            let mut wanted = part[start..start + length].to_vec();
            match numbers.below(3) {
                0 => wanted.make_ascii_uppercase(),
                1 => wanted.make_ascii_lowercase(),
                _ => {}
            }
            let expected: Vec<_> =
                all.iter().filter(|log| has(log, &wanted)).map(LogCursor::of).collect();
            assert!(expected.contains(&LogCursor::of(log)));
            assert_eq!(found(stores, place.account, text(&wanted)).await, expected, "{wanted:?}");
            asked += 1;
        }
    }
    assert!(asked > 100, "{asked} searches");
    assert_eq!(found(stores, place.account, text(b"nowhere")).await, []);
}

/// Each filter finds exactly what it names, and several find what passes all.
pub async fn filters_of_a_search_are_exact(stores: &Stores) {
    let place = Place::new();
    let sent = place.store_settled(stores, NOW, Outcome::SENT).await;
    let failed = place.store_settled(stores, after(1), Outcome::FAILED).await;
    let silent = Outcome { status_code: 0, ..Outcome::FAILED };
    let silent = place.store_settled(stores, after(2), silent).await;
    let waiting = place.store(stores, after(3), place.to_clients()).await;
    let mut webhook = place.webhook(after(4));
    webhook.request.method = Method::PUT;
    webhook.request.extra_path = "/Repos/webhooks".to_owned();
    webhook.request.headers.append("x-event", HeaderValue::from_static("Push now"));
    webhook.request.headers.append("x-event", HeaderValue::from_static("other"));
    webhook.request.body = Bytes::from_static(br#"{"a": {"b.c": "It\u0027s (x) 100%"}, "n": 15}"#);
    let delivery = place.to_clients();
    crate::delivery::accept(stores, &webhook, std::slice::from_ref(&delivery)).await;
    let odd = LogCursor { created_at: after(4), id: delivery.id };

    let check = async |expected: &[LogCursor], change: &dyn Fn(&mut LogFilter)| {
        let filter = with(LogFilter::default(), change);
        assert_eq!(found(stores, place.account, filter.clone()).await, expected, "{filter:?}");
    };
    check(&[odd, waiting, silent, failed, sent], &|_| {}).await;
    check(&[odd], &|filter| filter.method = Some(Method::PUT)).await;
    check(&[odd], &|filter| filter.path = Some("repos/".to_owned())).await;
    check(&[odd], &|filter| filter.input_id = Some(webhook.input_id)).await;
    check(&[odd, waiting], &|filter| filter.outputs = vec![place.internal]).await;
    check(&[failed], &|filter| filter.status_code = Some(500..=599)).await;
    check(&[silent], &|filter| filter.status_code = Some(0..=0)).await;
    check(&[silent, failed, sent], &|filter| filter.status_code = Some(0..=999)).await;
    let least = |least| move |filter: &mut LogFilter| filter.min_duration = Some(least);
    check(&[silent, failed], &least(Duration::from_millis(13))).await;
    check(&[silent, failed, sent], &least(Duration::from_millis(12))).await;
    for (header, expected) in [
        ("X-Event:push", &[odd][..]),
        ("x-event:OTHER", &[odd]),
        ("x-event:", &[odd]),
        ("x-event:nope", &[]),
        ("x-other:", &[]),
    ] {
        check(expected, &|filter| filter.set_header(header).expect("a header")).await;
    }
    for (payload, expected) in [
        ("a.b.c:it's (X)", &[odd][..]),
        ("a.b.c:100%", &[odd]),
        ("a.b.c:.*", &[]),
        ("n:15", &[odd]),
        ("n:", &[waiting, silent, failed, sent]),
        ("n:1", &[waiting, silent, failed, sent]),
        ("b:", &[]),
    ] {
        // Every other webhook has `{"n":1}`.
        let mut expected = expected.to_vec();
        if payload.starts_with("n:") && payload != "n:15" {
            expected.insert(0, odd);
        }
        check(&expected, &|filter| filter.set_payload(payload).expect("a place")).await;
    }
    check(&[], &|filter| {
        filter.method = Some(Method::PUT);
        filter.status_code = Some(200..=299);
    })
    .await;
}

/// A class of status codes finds retried and ended logs of every bucket, whatever their status, in
/// order and page by page. A log that is answered otherwise later is found by its last answer.
pub async fn a_class_of_status_codes_finds_every_log_by_its_last_answer(stores: &Stores) {
    let first = Place::new();
    let second = Place { account: first.account, ..Place::new() };
    let others = Place::new();
    let settled = async |place: Place, number, status_code, status, due_at| {
        let outcome = Outcome { status, status_code, due_at, ..Outcome::FAILED };
        place.store_settled(stores, after(number), outcome).await
    };
    let (failed, sent) = (DeliveryStatus::Failed, DeliveryStatus::Sent);
    let mut server_errors = Vec::new();
    for number in 0..6 {
        let place = if number % 2 == 0 { first } else { second };
        server_errors.push(settled(place, number, 500 + number as u16, failed, None).await);
        settled(place, number, 200, sent, None).await;
        settled(others, number, 500, failed, None).await;
    }
    let missing = settled(first, 10, 404, failed, None).await;
    let gone = settled(second, 11, 410, failed, None).await;
    let retried = settled(first, 12, 503, DeliveryStatus::Received, Some(after(100))).await;
    let odd = settled(second, 13, 502, sent, None).await;
    let silent = settled(first, 14, 0, failed, None).await;
    server_errors.extend([retried, odd]);
    let ask_for = async |codes, status, limit, before| {
        let query = with(LogQuery::new(limit), |query| {
            query.status = status;
            query.before = before;
        });
        let filter = with(LogFilter::default(), |filter| filter.status_code = Some(codes));
        ask(stores, first.account, &LogSearch::new(query, filter, WIDE)).await
    };
    let check = async |expected: &[LogCursor], codes, status| {
        let found = ask_for(codes, status, 99, None).await;
        assert_eq!(cursors(&found.logs), expected);
        assert!(found.complete);
    };
    let newest_first = reversed(server_errors.clone());
    check(&newest_first, 500..=599, None).await;
    check(&[gone, missing], 400..=499, None).await;
    check(&[gone], 410..=410, None).await;
    check(&[silent], 0..=0, None).await;
    check(&[], 300..=399, None).await;
    check(&[odd], 500..=599, Some(sent)).await;
    check(&[retried], 500..=599, Some(DeliveryStatus::Received)).await;
    check(&newest_first[2..], 500..=599, Some(failed)).await;
    let (mut pages, mut before) = (Vec::new(), None);
    loop {
        let found = ask_for(500..=599, None, 3, before).await;
        pages.extend(cursors(&found.logs));
        if found.complete {
            break;
        }
        before = found.scanned_until;
    }
    assert_eq!(pages, newest_first, "page by page");
    let client = first.store(stores, after(15), first.to_clients()).await;
    let answer = async |status, status_code| {
        let new = ClientReport::new(client.id, after(20), status);
        let new = with(new, |report| report.status_code = status_code);
        report(stores, first.account, &new).await;
    };
    answer(DeliveryStatus::Received, 503).await;
    check(&[client, retried], 500..=599, Some(DeliveryStatus::Received)).await;
    answer(failed, 404).await;
    check(&[client, gone, missing], 400..=499, None).await;
    check(&newest_first, 500..=599, None).await;
}

/// Why a log ended and from whom its webhook is; what nobody asked about is neither verified nor
/// refuted.
pub async fn search_asks_why_a_log_ended_and_whether_it_is_verified(stores: &Stores) {
    let place = Place::new();
    let store = async |number, verified, reason: Option<Reason>| {
        let mut webhook = place.webhook(after(number));
        webhook.checks.verified = verified;
        let delivery = with(place.to_nobody(), |delivery| {
            delivery.reason = reason;
            delivery.status = match reason {
                Some(_) => DeliveryStatus::Rejected,
                None => DeliveryStatus::Received,
            };
        });
        crate::delivery::accept(stores, &webhook, std::slice::from_ref(&delivery)).await;
        LogCursor { created_at: after(number), id: delivery.id }
    };
    let plain = store(0, None, None).await;
    let genuine = store(1, Some(true), None).await;
    let refused = store(2, Some(false), Some(Reason::Signature)).await;
    let marked = store(3, Some(false), None).await;
    let ruled_out = store(4, Some(true), Some(Reason::Rules)).await;
    let check = async |expected: &[LogCursor], verified, reason| {
        let filter = with(LogFilter::default(), |filter| {
            filter.verified = verified;
            filter.reason = reason;
        });
        assert_eq!(found(stores, place.account, filter.clone()).await, expected, "{filter:?}");
    };
    check(&[ruled_out, marked, refused, genuine, plain], None, None).await;
    check(&[ruled_out, genuine], Some(true), None).await;
    check(&[marked, refused], Some(false), None).await;
    check(&[refused], None, Some(Reason::Signature)).await;
    check(&[ruled_out], Some(true), Some(Reason::Rules)).await;
    check(&[], Some(true), Some(Reason::Signature)).await;
    check(&[], None, Some(Reason::Duplicate)).await;
}

/// A call that stops at a bound says how far it came; all calls together look at each log once.
pub async fn bounded_search_goes_on_where_it_stopped(stores: &Stores) {
    let place = Place::new();
    let mut stored = Vec::new();
    for number in 0..40 {
        let mut webhook = place.webhook(after(number / 3));
        webhook.request.body = Bytes::from(format!("{}{}", "x".repeat(2_000), number % 2));
        let delivery = place.to_clients();
        crate::delivery::accept(stores, &webhook, std::slice::from_ref(&delivery)).await;
        if number % 2 == 1 {
            stored.push(LogCursor { created_at: after(number / 3), id: delivery.id });
        }
    }
    stored.sort_unstable();
    let stored = reversed(stored);
    for (limit, bounds) in [
        (3, WIDE),
        (100, ScanBounds { max_bytes: 1, ..WIDE }),
        (2, ScanBounds { max_bytes: 9_000, ..WIDE }),
        (100, ScanBounds { max_time: Duration::ZERO, ..WIDE }),
    ] {
        let mut search = LogSearch::new(LogQuery::new(limit), text(b"xx1"), bounds);
        let (mut seen, mut calls) = (Vec::new(), 0);
        loop {
            let LogsFound { logs, scanned_until, complete, .. } =
                ask(stores, place.account, &search).await;
            assert!(logs.len() <= limit);
            seen.extend(cursors(&logs));
            calls += 1;
            if complete {
                break;
            }
            assert!(scanned_until < search.query.before || search.query.before.is_none());
            search.query.before = Some(scanned_until.expect("it came somewhere"));
        }
        assert_eq!(seen, stored, "{limit} {bounds:?}");
        assert!(calls > 1, "{limit} {bounds:?}");
    }
}

/// A search is of one account, bucket, status and stretch of time, as a list is.
pub async fn search_is_of_what_was_asked_for(stores: &Stores) {
    let (first, others) = (Place::new(), Place::new());
    let second = Place { account: first.account, ..Place::new() };
    let old = first.store_settled(stores, NOW, Outcome::SENT).await;
    let new = first.store(stores, after(60), first.to_clients()).await;
    let there = second.store_settled(stores, after(30), Outcome::SENT).await;
    others.store(stores, after(10), others.to_clients()).await;
    let check = async |expected: &[LogCursor], change: &dyn Fn(&mut LogQuery)| {
        let query = with(LogQuery::new(9), change);
        let search = LogSearch::new(query, text(b"/orders"), WIDE);
        let found = ask(stores, first.account, &search).await;
        assert_eq!(cursors(&found.logs), expected, "{search:?}");
    };
    check(&[new, there, old], &|_| {}).await;
    check(&[new, old], &|query| query.bucket_id = Some(first.bucket)).await;
    check(&[there, old], &|query| query.status = Some(DeliveryStatus::Sent)).await;
    check(&[new, there], &|query| query.from = Some(after(30))).await;
    check(&[old], &|query| query.to = Some(after(30))).await;
    check(&[old], &|query| query.before = Some(there)).await;
}
