//! Answers that an output judges by its own lists and rules.

use http::header::LOCATION;

use super::*;
use crate::{
    forward::{ForwardError, ForwardResponse, history::FailureKind},
    model::{Attempt, Extension, Health, Outcomes, ResponseFromOutput},
    rule::{AnswerRules, Rule},
};

fn lists(json: &str) -> OutputSpec {
    let outcomes: Outcomes = serde_json::from_str(json).expect(json);
    OutputSpec { outcomes: Extension::Set(outcomes), ..OutputSpec::new("", HOOK) }
}

fn success_when(rule: Rule) -> OutputSpec {
    let rules = AnswerRules::try_from(rule).expect("rules");
    OutputSpec { success_when: Some(rules), ..OutputSpec::new("", HOOK) }
}

/// What became of one webhook, how often it was sent, and the last attempt.
async fn delivered(
    answers: impl IntoIterator<Item = Answer>,
    spec: OutputSpec,
) -> (DeliveryStatus, usize, Attempt, Log) {
    let mut world = World::new().await;
    world.forwarder.script(HOOK, answers);
    world.output(spec).await;
    let log = world.deliver_one().await;
    let last = log.delivery.last.clone().expect("an attempt");
    (log.delivery.status, world.forwarder.requests().len(), last, log)
}

fn answer(code: u16) -> Answer {
    Answer::status(StatusCode::from_u16(code).expect("a code"))
}

#[tokio::test(start_paused = true)]
async fn a_code_in_a_list_has_the_outcome_of_the_list() {
    use DeliveryStatus::{Failed, Sent};
    let json = r#"{"success": ["409", "3xx"], "retry": ["4xx", "301"], "final": ["200", "500"]}"#;
    for (code, expected) in [
        (409, (Sent, 1)),
        (404, (Failed, 3)),
        (302, (Sent, 1)),
        (301, (Failed, 3)),
        (200, (Failed, 1)),
        (500, (Failed, 1)),
        // Codes in no list.
        (204, (Sent, 1)),
        (503, (Failed, 3)),
        (501, (Failed, 1)),
    ] {
        let (status, sent, last, _) = delivered([answer(code)], lists(json)).await;
        assert_eq!((status, sent), expected, "{code}");
        assert_eq!(last.status_code, code);
    }
}

#[tokio::test(start_paused = true)]
async fn a_redirect_is_a_failure_that_says_where_to() {
    let moved = || answer(308).header(LOCATION, "https://new.example.com/".parse().expect("it"));
    let said = "the answer was 308 to https://new.example.com/; redirects are not followed";
    let (status, sent, last, _) = delivered([moved()], OutputSpec::new("", HOOK)).await;
    assert_eq!((status, sent, last.error.as_deref()), (DeliveryStatus::Failed, 1, Some(said)));
    // Not even when the relay tries again.
    let (status, sent, last, _) = delivered([moved()], lists(r#"{"retry": ["3xx"]}"#)).await;
    assert_eq!((status, sent, last.error.as_deref()), (DeliveryStatus::Failed, 3, Some(said)));
    let (status, _, last, _) = delivered([moved()], lists(r#"{"success": ["308"]}"#)).await;
    assert_eq!((status, last.error), (DeliveryStatus::Sent, None));
    let (_, _, last, _) = delivered([answer(304)], OutputSpec::new("", HOOK)).await;
    let said = "the answer was 304; redirects are not followed";
    assert_eq!(last.error.as_deref(), Some(said));
    let far = format!("https://example.com/{}", "x".repeat(2_000));
    let far = answer(302).header(LOCATION, far.parse().expect("it"));
    let (_, _, last, _) = delivered([far], OutputSpec::new("", HOOK)).await;
    assert!(last.error.expect("an error").len() < 300);
}

#[tokio::test(start_paused = true)]
async fn a_destination_may_ask_for_time_after_a_code_in_retry() {
    let mut world = World::new().await;
    let early = answer(404).header(http::header::RETRY_AFTER, "60".parse().expect("it"));
    world.forwarder.script(HOOK, [early, Answer::ok()]);
    world.output(lists(r#"{"retry": ["404"]}"#)).await;
    world.deliver().await;
    world.post("x").await;
    pass(Duration::from_secs(59)).await;
    assert_eq!(world.forwarder.requests().len(), 1);
    pass(Duration::from_secs(2)).await;
    assert_eq!(world.forwarder.requests().len(), 2);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_success_passes_the_rules_for_it_or_is_tried_again() {
    let ok = || success_when(Rule::payload("ok").equals("true"));
    let refused = || Answer::ok().body(r#"{"ok": false, "error": "channel_not_found"}"#);
    let taken = || Answer::ok().body(r#"{"ok": true}"#);
    let (status, sent, last, log) = delivered([refused(), taken()], ok()).await;
    assert_eq!((status, sent, last.error), (DeliveryStatus::Sent, 2, None));
    let made = log.delivery.history.attempts();
    assert_eq!((made[0].status_code, made[0].failure), (200, Some(FailureKind::Unsuccessful)));
    assert!(!made[0].is_answer_incomplete());

    let (status, sent, last, log) = delivered([refused()], ok()).await;
    assert_eq!((status, sent), (DeliveryStatus::Failed, 3));
    assert_eq!(last.error.as_deref(), Some("the answer does not pass success_when"));
    assert_eq!((last.status_code, &last.response_body[..6]), (200, &br#"{"ok":"#[..]));
    let told = serde_json::to_value(&log).expect("a log");
    assert_eq!(told["reason"], "attempts_exhausted");
    assert!(told.get("answer_incomplete").is_none());

    // A rule makes no success of an error, and does not change what follows one.
    for (code, expected) in [(500, 3), (404, 1)] {
        let body = answer(code).body(r#"{"ok": true}"#);
        let (status, sent, ..) = delivered([body], ok()).await;
        assert_eq!((status, sent), (DeliveryStatus::Failed, expected), "{code}");
    }
    // Together with a list.
    let mut both = lists(r#"{"success": ["409"]}"#);
    both.success_when = ok().success_when;
    let (status, sent, ..) = delivered([answer(409).body(r#"{"ok": true}"#)], both.clone()).await;
    assert_eq!((status, sent), (DeliveryStatus::Sent, 1));
    assert_eq!(delivered([answer(409)], both).await.0, DeliveryStatus::Failed);
}

#[tokio::test(start_paused = true)]
async fn rules_for_a_success_read_the_status_the_headers_and_the_beginning_of_the_body() {
    let header = http::HeaderName::from_static("x-taken");
    let rule = Rule::status().equals("202").or(Rule::header("X-Taken").equals("yes"));
    for (answer, expected) in [
        (answer(202), DeliveryStatus::Sent),
        (answer(200), DeliveryStatus::Failed),
        (answer(200).header(header, "yes".parse().expect("it")), DeliveryStatus::Sent),
    ] {
        assert_eq!(delivered([answer], success_when(rule.clone())).await.0, expected);
    }
    for (before, expected) in [(65_534, DeliveryStatus::Sent), (65_535, DeliveryStatus::Failed)] {
        let long = format!("{}ok{}", "-".repeat(before), "-".repeat(9));
        let spec = success_when(Rule::body().contains("ok"));
        assert_eq!(delivered([Answer::ok().body(long)], spec).await.0, expected, "{before}");
    }
    // JSON that is cut has no values, wherever the path leads.
    for (more, expected) in [(65_000, DeliveryStatus::Sent), (66_000, DeliveryStatus::Failed)] {
        let long = format!(r#"{{"ok": true, "more": "{}"}}"#, "-".repeat(more));
        let spec = success_when(Rule::payload("ok").equals("true"));
        assert_eq!(delivered([Answer::ok().body(long)], spec).await.0, expected, "{more}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_sender_gets_an_answer_that_does_not_pass() {
    let input = InputSpec { response_from_output: ResponseFromOutput::Any, ..InputSpec::default() };
    let mut world = World::with(BucketSpec::default(), input, RelayOptions::default()).await;
    world.output(success_when(Rule::payload("ok").equals("true"))).await;
    world.forwarder.script(HOOK, [answer(202).body(r#"{"ok": false}"#)]);
    world.deliver().await;
    let response = world.post("x").await;
    assert_eq!(
        (response.status(), &response.body()[..]),
        (StatusCode::ACCEPTED, &br#"{"ok": false}"#[..])
    );
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_whose_rules_need_the_body_is_a_failure_without_it() {
    let broken = Answer::error(|| ForwardError::Incomplete {
        head: Box::new(ForwardResponse::empty(StatusCode::OK)),
        cause: Box::new(ForwardError::Timeout { after: Duration::from_secs(30), timings: None }),
    });
    let spec = success_when(Rule::status().equals("200"));
    let (status, sent, ..) = delivered([broken], spec).await;
    assert_eq!((status, sent), (DeliveryStatus::Failed, 3));
}

#[tokio::test(start_paused = true)]
async fn only_answers_after_which_the_relay_tries_again_count_against_a_destination() {
    let health: Health = serde_json::from_str(r#"{"circuit": {"failures": 1}}"#).expect("it");
    let failing = |mut spec: OutputSpec, code| {
        spec.health = Extension::Set(health);
        spec.retries = 3;
        async move {
            let mut world = World::new().await;
            world.forwarder.script(HOOK, [answer(code)]);
            world.output(spec).await;
            world.deliver().await;
            world.post("x").await;
            // Without an open circuit there are five attempts within 40 s.
            pass(Duration::from_secs(25)).await;
            world.stop().await;
            world.forwarder.requests().len() == 1
        }
    };
    assert!(failing(lists(r#"{"retry": ["404"]}"#), 404).await, "the circuit opens");
    assert!(failing(lists("{}"), 503).await);
    assert!(failing(success_when(Rule::status().equals("201")), 200).await);
    // 408 is tried again, and says nothing against a destination.
    assert!(!failing(lists("{}"), 408).await);
    // One that is final is the verdict on one webhook.
    let webhooks = lists(r#"{"final": ["503"]}"#);
    let mut world = World::new().await;
    world.forwarder.script(HOOK, [answer(503)]);
    world.output(OutputSpec { health: Extension::Set(health), ..webhooks }).await;
    world.deliver().await;
    for _ in 0..3 {
        world.post("x").await;
        pass(Duration::from_secs(1)).await;
    }
    assert_eq!(world.forwarder.requests().len(), 3, "the circuit stays closed");
    world.stop().await;
}
