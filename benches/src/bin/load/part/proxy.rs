//! A plain proxy on hyper: what a server in Rust can do that forwards and keeps
//! nothing.

use std::net::SocketAddr;

use http::{Request, Response, StatusCode, Uri, uri::PathAndQuery};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioIo},
};
use tokio::net::TcpListener;

use crate::Outcome;

type Upstream = Client<HttpConnector, Incoming>;

pub(super) fn run(to: SocketAddr) -> Outcome<()> {
    super::multi_threaded()?.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        super::say(&listener.local_addr()?)?;
        std::thread::spawn(|| {
            // Nothing is said to it: its input ends with the harness.
            let _ = super::order::<()>();
            std::process::exit(0);
        });
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let upstream: Upstream = Client::builder(TokioExecutor::new()).build(connector);
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let upstream = upstream.clone();
            tokio::spawn(async move {
                let service = service_fn(|request| forward(&upstream, to, request));
                let http = hyper::server::conn::http1::Builder::new();
                http.serve_connection(TokioIo::new(stream), service).await
            });
        }
    })
}

async fn forward(
    upstream: &Upstream,
    to: SocketAddr,
    mut request: Request<Incoming>,
) -> Result<Response<Incoming>, Box<dyn std::error::Error + Send + Sync>> {
    let path = request.uri().path_and_query().cloned();
    let path = path.unwrap_or_else(|| PathAndQuery::from_static("/"));
    *request.uri_mut() =
        Uri::builder().scheme("http").authority(to.to_string()).path_and_query(path).build()?;
    let response = upstream.request(request).await?;
    match response.status() {
        StatusCode::OK => Ok(response),
        status => Err(format!("the sink answered {status}").into()),
    }
}
