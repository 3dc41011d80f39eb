//! What goes over the wire, byte for byte.

use super::{
    raw_server::{Raw, Then},
    *,
};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[tokio::test]
async fn a_request_arrives_unchanged() -> Result<(), ForwardError> {
    let server = Raw::always(
        "HTTP/1.1 418 I'm a teapot\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 3\r\n\r\nyes",
    )
    .await;
    let mut sent = request(&server.url("/a%20b//./../c|^'[]{}?q=1&q=%2F&="));
    sent.method = Method::from_bytes(b"PURGE").expect("a token");
    sent.body = vec![0, 255, b'\r', b'\n', 7].into();
    for (name, value) in [
        ("x-github-event", "push"),
        ("x-twice", "1"),
        ("x-twice", "2"),
        ("user-agent", "GitHub-Hookshot/1"),
        ("content-length", "99"),
        ("transfer-encoding", "chunked"),
    ] {
        sent = with_header(sent, name, value);
    }
    let path = "/a%20b//./../c|^'[]{}?q=1&q=%2F&=";
    let response = forwarder().forward(sent).await?;
    assert_eq!(
        (response.status.as_u16(), &response.body[..], response.truncated),
        (418, &b"yes"[..], false)
    );
    assert_eq!(response.headers.get_all("x-a").iter().collect::<Vec<_>>(), ["1", "2"]);

    let received = &server.received()[0];
    let mut lines = received.lines();
    assert_eq!(lines.remove(0), format!("PURGE {path} HTTP/1.1"));
    lines.sort_unstable();
    let host = format!("Host: {}", server.address);
    assert_eq!(
        lines,
        [
            "Content-Length: 5",
            &host,
            "User-Agent: GitHub-Hookshot/1",
            "X-Github-Event: push",
            "X-Twice: 1",
            "X-Twice: 2",
        ]
    );
    assert_eq!(received.body, [0, 255, b'\r', b'\n', 7]);
    Ok(())
}

#[tokio::test]
async fn a_url_without_a_path_has_one() -> Result<(), ForwardError> {
    let server = Raw::always(OK).await;
    for (path_and_query, target) in [("", "/"), ("/", "/"), ("?q=1", "/?q=1"), ("/?q", "/?q")] {
        forwarder().forward(request(&server.url(path_and_query))).await?;
        let received = server.received().pop().expect("one more");
        assert_eq!(received.lines()[0], format!("POST {target} HTTP/1.1"));
    }
    Ok(())
}

#[tokio::test]
async fn the_body_decides_content_length() -> Result<(), ForwardError> {
    let server = Raw::always(OK).await;
    let forwarder = forwarder();
    for (method, body, length) in [
        ("GET", "x", Some("Content-Length: 1")),
        ("GET", "", None),
        ("DELETE", "", None),
        ("DELETE", "xyz", Some("Content-Length: 3")),
        ("POST", "", Some("Content-Length: 0")),
        ("PUT", "", Some("Content-Length: 0")),
        ("PATCH", "", Some("Content-Length: 0")),
    ] {
        let mut sent = request(&server.url("/"));
        sent.method = method.parse().expect("a token");
        sent.body = body.into();
        forwarder.forward(sent).await?;
        let received = server.received().pop().expect("one more");
        let lengths: Vec<_> = received
            .lines()
            .into_iter()
            .filter(|line| line.starts_with("Content-Length"))
            .collect();
        assert_eq!(lengths, Vec::from_iter(length), "{method} {body:?}");
        assert!(!received.head.contains("Transfer-Encoding"), "{}", received.head);
        assert_eq!(received.body, body.as_bytes());
    }
    Ok(())
}

#[tokio::test]
async fn host_and_user_agent() -> Result<(), ForwardError> {
    let server = Raw::always(OK).await;
    forwarder()
        .forward(with_header(request(&server.url("/")), "host", "tenant.example:8443"))
        .await?;
    open_builder().user_agent(None).build().forward(request(&server.url("/"))).await?;
    let received = server.received();
    assert!(received[0].head.contains("\r\nHost: tenant.example:8443\r\n"), "{}", received[0].head);
    assert!(received[0].head.contains("\r\nUser-Agent: webhook-core/"), "{}", received[0].head);
    assert_eq!(received[0].head.matches("Host:").count(), 1);
    assert!(!received[1].head.contains("User-Agent"), "{}", received[1].head);
    Ok(())
}

#[tokio::test]
async fn redirects_are_answers() -> Result<(), ForwardError> {
    let server = Raw::always(
        "HTTP/1.1 302 Found\r\nLocation: /other\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n",
    )
    .await;
    let forwarder = forwarder();
    for _ in 0..2 {
        let response = forwarder.forward(request(&server.url("/"))).await?;
        assert_eq!(
            (response.status.as_u16(), &response.headers["location"]),
            (302, &"/other".parse().expect("value"))
        );
    }
    assert_eq!(server.received().len(), 2);
    assert!(server.received().iter().all(|received| !received.head.contains("Cookie")));
    Ok(())
}

#[tokio::test]
async fn every_way_to_end_an_answer() -> Result<(), ForwardError> {
    for (method, answer, then, body) in [
        (
            "POST",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3\r\ncde\r\n0\r\nX-T: 1\r\n\r\n",
            Then::KeepOpen,
            "abcde",
        ),
        ("POST", "HTTP/1.1 200 OK\r\n\r\nuntil the end", Then::Close, "until the end"),
        ("POST", "HTTP/1.0 200 OK\r\n\r\nold", Then::Close, "old"),
        ("POST", "HTTP/1.1 204 No Content\r\n\r\n", Then::KeepOpen, ""),
        ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", Then::KeepOpen, ""),
        (
            "POST",
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
            Then::KeepOpen,
            "x",
        ),
        (
            "POST",
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nraw",
            Then::KeepOpen,
            "raw",
        ),
    ] {
        let server = Raw::answering(move |_| Some((answer.into(), then))).await;
        let mut sent = request(&server.url("/"));
        sent.method = method.parse().expect("a token");
        let response = forwarder().forward(sent).await?;
        assert_eq!(
            (&response.body[..], response.truncated),
            (body.as_bytes(), false),
            "{answer:?}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn the_cap_cuts_and_closes() -> Result<(), ForwardError> {
    let server = Raw::always("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789").await;
    let forwarder = forwarder();
    for (cap, body, truncated, accepted) in [
        (10, "0123456789", false, 1),
        (9, "012345678", true, 1),
        (0, "", true, 2),
        (11, "0123456789", false, 3),
    ] {
        let mut sent = request(&server.url("/"));
        sent.max_response_bytes = cap;
        let response = forwarder.forward(sent).await?;
        assert_eq!((&response.body[..], response.truncated), (body.as_bytes(), truncated), "{cap}");
        assert_eq!(server.accepted(), accepted, "{cap}");
    }
    Ok(())
}

#[tokio::test]
async fn an_endless_answer_ends_at_the_cap() -> Result<(), ForwardError> {
    use tokio::io::AsyncWriteExt;
    let server = Raw::serving(async |mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
        while stream.write_all(&[b'x'; 16 * 1024]).await.is_ok() {}
    })
    .await;
    let response = forwarder().forward(request(&server.url("/"))).await?;
    assert_eq!((response.body.len(), response.truncated), (64 * 1024, true));
    Ok(())
}

#[tokio::test]
async fn large_bodies_both_ways() -> Result<(), ForwardError> {
    let body: bytes::Bytes =
        (0..16 * 1024 * 1024_u32).map(|i| (i % 251) as u8).collect::<Vec<_>>().into();
    let answer = [b"HTTP/1.1 200 OK\r\nContent-Length: 16777216\r\n\r\n", &body[..]].concat();
    let server = Raw::answering(move |_| Some((answer.clone(), Then::KeepOpen))).await;
    let mut sent = request(&server.url("/"));
    sent.body = body.clone();
    sent.max_response_bytes = body.len();
    let response = forwarder().forward(sent).await?;
    assert!(response.body == body && !response.truncated);
    assert!(server.received()[0].body == body);
    Ok(())
}

#[tokio::test]
async fn headers_of_answers_are_bounded() -> Result<(), ForwardError> {
    let long = |bytes: usize| {
        format!("HTTP/1.1 200 OK\r\nX-Long: {}\r\nContent-Length: 0\r\n\r\n", "x".repeat(bytes))
    };
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X-Many: 1\r\n".repeat(101));
    let answers = [long(60 * 1024), long(65 * 1024), many];
    let server = Raw::answering(move |n| Some((answers[n].clone().into(), Then::KeepOpen))).await;
    let forwarder = forwarder();
    let response = forwarder.forward(request(&server.url("/"))).await?;
    assert_eq!(response.headers["x-long"].len(), 60 * 1024);
    for _ in 0..2 {
        let error = forwarder.forward(request(&server.url("/"))).await.expect_err("too much");
        assert!(matches!(error, ForwardError::Broken { .. }), "{error:?}");
        assert!(
            error.to_string().contains("head is refused: message head is too large"),
            "{error}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn what_is_not_http_is_broken() {
    for (answer, reason) in [
        ("SSH-2.0-OpenSSH_9.6\r\n\r\n", "the answer's head is refused"),
        ("", "closed the connection before its answer was complete"),
        ("HTTP/1.1 200 OK\r\nContent-Le", "closed the connection before its answer was complete"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
            "closed the connection before its answer was complete",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            "the answer's head is refused",
        ),
    ] {
        let server = Raw::answering(move |_| Some((answer.into(), Then::Close))).await;
        let error = forwarder().forward(request(&server.url("/"))).await.expect_err(answer);
        assert!(
            matches!(error, ForwardError::Broken { .. } | ForwardError::Incomplete { .. })
                && error.may_have_been_sent(),
            "{error:?}"
        );
        assert!(error.to_string().contains(reason), "{answer:?}: {error}");
        assert_eq!(server.received().len(), 1, "sent once");
    }
}
