use ::http::{Method, header::RETRY_AFTER};
use tokio::time::Instant;

use super::*;

const URL: &str = "https://example.com/hook";

fn request(body: &'static str) -> ForwardRequest {
    ForwardRequest {
        method: Method::POST,
        url: URL.parse().expect("url"),
        headers: HeaderMap::new(),
        body: body.into(),
        timeout: Duration::from_secs(30),
        tls_verification: true,
        max_response_bytes: 4,
        new_connection: false,
    }
}

#[tokio::test]
async fn plays_its_script_and_repeats_the_last_answer() -> Result<(), ForwardError> {
    let forwarder = ScriptedForwarder::new();
    let checked = forwarder.checked_on_drop();
    assert_eq!(forwarder.forward(request("0")).await?.status, StatusCode::OK);
    let later = Answer::status(StatusCode::TOO_MANY_REQUESTS)
        .header(RETRY_AFTER, HeaderValue::from_static("7"));
    forwarder.script(URL, [later, Answer::connection_refused(), Answer::ok().body("thanks")]);

    let first = forwarder.forward(request("1")).await?;
    assert_eq!(
        (first.status.as_u16(), &first.headers[RETRY_AFTER]),
        (429, &"7".parse().expect("value"))
    );
    let second = forwarder.forward(request("2")).await.expect_err("refused");
    assert!(matches!(second, ForwardError::Connect { .. }));
    for body in ["3", "4"] {
        let answer = forwarder.forward(request(body)).await?;
        assert_eq!((&answer.body[..], answer.truncated), (&b"than"[..], true));
    }
    let bodies: Vec<_> = forwarder.requests_to(URL).into_iter().map(|r| r.body).collect();
    assert_eq!(bodies, ["0", "1", "2", "3", "4"]);
    assert_eq!(forwarder.requests().len(), 5);
    drop(checked);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn time_is_tokios() {
    let forwarder = ScriptedForwarder::new();
    let slow = Answer::ok().after(Duration::from_secs(29));
    forwarder.script(URL, [slow.clone(), slow.after(Duration::from_secs(31)), Answer::ok().held()]);
    let start = Instant::now();
    assert!(forwarder.forward(request("")).await.is_ok());
    assert_eq!(start.elapsed(), Duration::from_secs(29));
    for _ in 0..2 {
        let start = Instant::now();
        let late = forwarder.forward(request("")).await;
        assert!(matches!(late, Err(ForwardError::Timeout { .. })));
        assert_eq!(start.elapsed(), Duration::from_secs(30));
    }
}

#[tokio::test(start_paused = true)]
async fn held_requests_are_counted_and_released() {
    let forwarder = ScriptedForwarder::new();
    forwarder.script(URL, [Answer::ok().held()]);
    let sending: Vec<_> = ["a", "b"]
        .map(|body| {
            let forwarder = forwarder.clone();
            tokio::spawn(async move { forwarder.forward(request(body)).await })
        })
        .into();
    forwarder.received(2).await;
    assert_eq!((forwarder.in_flight(), forwarder.most_in_flight()), (2, 2));
    forwarder.release();
    forwarder.finished(2).await;
    for task in sending {
        assert!(task.await.expect("no panic").is_ok());
    }
    let dropped = tokio::spawn({
        let forwarder = forwarder.clone();
        async move { forwarder.forward(request("c")).await }
    });
    forwarder.received(3).await;
    dropped.abort();
    forwarder.finished(3).await;
    assert_eq!((forwarder.in_flight(), forwarder.most_in_flight()), (0, 2));
}

#[tokio::test]
#[should_panic(expected = "unplayed answers for [\"https://example.com/hook\"]")]
async fn an_unplayed_script_fails_the_test() {
    let forwarder = ScriptedForwarder::new();
    let _checked = forwarder.checked_on_drop();
    forwarder.script(URL, [Answer::connection_refused(), Answer::ok()]);
}
