//! Which requests share a connection.

use tokio::{io::AsyncReadExt, runtime::Builder, sync::mpsc};

use super::{
    raw_server::{Raw, Then},
    *,
};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[tokio::test]
async fn requests_in_turn_share_a_connection() -> Result<(), ForwardError> {
    let server = Raw::always(OK).await;
    let forwarder = forwarder();
    for _ in 0..5 {
        forwarder.clone().forward(request(&server.url("/"))).await?;
    }
    assert_eq!((server.accepted(), server.received().len(), forwarder.verified.len()), (1, 5, 1));
    // A pool of its own for those who do not verify, even without TLS.
    let mut unverified = request(&server.url("/"));
    unverified.tls_verification = false;
    forwarder.forward(unverified).await?;
    assert_eq!((server.accepted(), forwarder.unverified.len()), (2, 1));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_requests_get_their_own_answers() {
    let server = Arc::new(Raw::answering(|_| Some((OK.into(), Then::KeepOpen))).await);
    let forwarder = open_builder().pool_max_idle_per_host(3).build();
    for _ in 0..10 {
        let round: Vec<_> = (0..8)
            .map(|_| {
                let (forwarder, sent) = (forwarder.clone(), request(&server.url("/")));
                tokio::spawn(async move { forwarder.forward(sent).await })
            })
            .collect();
        for task in round {
            assert_eq!(task.await.expect("no panic").expect("answered").body, "ok");
        }
        assert!(forwarder.verified.len() <= 3);
    }
    assert_eq!(server.received().len(), 80);
}

#[tokio::test]
async fn pools_are_bounded_in_all() -> Result<(), ForwardError> {
    let servers = [Raw::always(OK).await, Raw::always(OK).await, Raw::always(OK).await];
    let forwarder = open_builder().pool_max_idle(2).build();
    for server in &servers {
        forwarder.forward(request(&server.url("/"))).await?;
    }
    assert_eq!(forwarder.verified.len(), 2);
    let none = open_builder().pool_idle_timeout(Duration::ZERO).build();
    for _ in 0..2 {
        none.forward(request(&servers[0].url("/"))).await?;
    }
    assert_eq!((servers[0].accepted(), none.verified.len()), (3, 0));
    Ok(())
}

/// Serves one connection after another: one answer each, then closes and says so.
async fn closing_server() -> (Raw, mpsc::UnboundedReceiver<()>) {
    let (closed, on_close) = mpsc::unbounded_channel();
    let server = Raw::serving(move |mut stream| {
        let closed = closed.clone();
        async move {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, OK.as_bytes()).await;
            drop(stream);
            let _ = closed.send(());
        }
    })
    .await;
    (server, on_close)
}

#[tokio::test]
async fn a_connection_closed_by_the_destination_is_not_used() -> Result<(), ForwardError> {
    let (server, mut closed) = closing_server().await;
    let witness = Raw::always(OK).await;
    let forwarder = forwarder();
    for round in 1..=20 {
        forwarder.forward(request(&server.url("/"))).await?;
        closed.recv().await.expect("the server runs");
        // A round trip, after which the close has reached the runtime, too.
        forwarder.forward(request(&witness.url("/"))).await?;
        assert_eq!(server.accepted(), round);
    }
    Ok(())
}

#[tokio::test]
async fn a_request_on_a_closed_connection_comes_back_unwritten() -> Result<(), ForwardError> {
    let (close, on_close) = tokio::sync::watch::channel(false);
    let (closed, mut was_closed) = mpsc::unbounded_channel();
    let server = Raw::serving(move |stream| {
        let (mut on_close, closed) = (on_close.clone(), closed.clone());
        async move {
            let _ = on_close.wait_for(|close| *close).await;
            drop(stream);
            let _ = closed.send(());
        }
    })
    .await;
    let witness = Raw::always(OK).await;
    let forwarder = forwarder();
    let sent = with_header(request(&server.url("/a?b")), "x-event", "push");
    let destination = &*crate::forward::message::destination(&sent.url)?;
    let connection =
        forwarder.connector.connect(destination, true, &mut Stopwatch::start()).await?;
    forwarder.verified.put_back(
        destination,
        connection,
        &ForwardResponse::empty(::http::StatusCode::OK),
    );
    // Taken while it is open, and closed before the request is put on it.
    let mut connection = forwarder.verified.take(destination).expect("a kept connection");
    close.send_replace(true);
    was_closed.recv().await.expect("the server runs");
    forwarder.forward(request(&witness.url("/"))).await?;
    let outgoing =
        || Outgoing::new(Method::PUT, &sent.url, sent.headers.clone(), sent.body.clone());
    let Err(Failure::Unwritten(back, _)) =
        connection.exchange(outgoing()?, 10, &mut Stopwatch::start(), &mut None).await
    else {
        panic!("not unwritten")
    };
    assert_eq!(format!("{back:?}"), format!("{:?}", outgoing()?));
    Ok(())
}

#[tokio::test]
async fn a_request_that_may_have_arrived_is_not_sent_again() -> Result<(), ForwardError> {
    let server = Raw::answering(|n| (n == 0).then(|| (OK.into(), Then::KeepOpen))).await;
    let forwarder = forwarder();
    forwarder.forward(request(&server.url("/"))).await?;
    let error = forwarder.forward(request(&server.url("/"))).await.expect_err("closed on receipt");
    assert!(
        matches!(error, ForwardError::KeptClosed { .. }) && error.may_have_been_sent(),
        "{error:?}"
    );
    assert_eq!((server.accepted(), server.received().len()), (1, 2));
    Ok(())
}

#[tokio::test]
async fn what_the_destination_says_about_keeping_counts() -> Result<(), ForwardError> {
    for (header, kept) in [
        ("Connection: close", 0),
        ("Keep-Alive: timeout=1, max=100", 0),
        ("Keep-Alive: max=5, Timeout=60", 1),
        ("Keep-Alive: timeout=soon", 1),
    ] {
        let answer = format!("HTTP/1.1 200 OK\r\n{header}\r\nContent-Length: 0\r\n\r\n");
        let server = Raw::answering(move |_| Some((answer.clone().into(), Then::KeepOpen))).await;
        let forwarder = forwarder();
        forwarder.forward(request(&server.url("/"))).await?;
        assert_eq!(forwarder.verified.len(), kept, "{header}");
    }
    Ok(())
}

#[tokio::test]
async fn idle_connections_are_closed_and_the_task_ends() -> Result<(), ForwardError> {
    let (gone, mut on_gone) = mpsc::unbounded_channel();
    let server = Raw::serving(move |mut stream| {
        let gone = gone.clone();
        async move {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, OK.as_bytes()).await;
            assert_eq!(stream.read(&mut request).await.ok(), Some(0), "closed by the relay");
            let _ = gone.send(());
        }
    })
    .await;
    let forwarder = open_builder().pool_idle_timeout(Duration::from_millis(50)).build();
    forwarder.forward(request(&server.url("/"))).await?;
    assert_eq!(forwarder.verified.len(), 1);
    on_gone.recv().await.expect("the server runs");
    assert_eq!(forwarder.verified.len(), 0);
    Ok(())
}

#[test]
fn a_connection_stays_with_its_runtime() -> io::Result<()> {
    let serving = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let server = serving.block_on(Raw::always(OK));
    let forwarder = open_builder().pool_idle_timeout(Duration::from_secs(2)).build();
    for accepted in [1, 2] {
        // Ends with each turn, and its task that closes connections with it.
        let runtime = Builder::new_current_thread().enable_all().build()?;
        for _ in 0..2 {
            let answer = runtime.block_on(forwarder.forward(request(&server.url("/"))));
            assert_eq!(answer.expect("answered").status, 200);
        }
        assert_eq!(server.accepted(), accepted);
    }
    assert_eq!(forwarder.verified.len(), 2);
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        forwarder.forward(request(&server.url("/"))).await.expect("answered");
        while forwarder.verified.len() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    Ok(())
}

#[tokio::test]
async fn an_early_answer_closes_the_connection() -> Result<(), ForwardError> {
    // Answers after the head and reads nothing more.
    let server = Raw::serving(async |mut stream| {
        let mut start = [0; 512];
        let _ = stream.read(&mut start).await;
        let refusal = b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n";
        let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, refusal).await;
        std::future::pending::<()>().await;
    })
    .await;
    let forwarder = forwarder();
    let mut sent = request(&server.url("/"));
    sent.body = vec![0; 32 * 1024 * 1024].into();
    assert_eq!(forwarder.forward(sent).await?.status, 413);
    assert_eq!(forwarder.verified.len(), 0);
    Ok(())
}
