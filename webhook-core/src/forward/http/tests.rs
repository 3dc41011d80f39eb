//! Against real sockets on loopback.

use std::{
    collections::HashMap,
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
    time::Duration,
};

use ::http::{HeaderMap, Method};
use async_trait::async_trait;

use super::*;
use crate::guard::AddressGuard;

mod deadline;
pub(crate) mod http2_server;
mod raw_server;
mod refusal;
mod reuse;
mod timings;
mod tls;
mod tls_server;
mod unprocessed;
mod wire;

/// Long enough for a loaded machine, where the deadline is not what is tested.
const AMPLE: Duration = Duration::from_secs(30);

fn open_builder() -> HttpForwarderBuilder {
    HttpForwarder::builder().guard(AddressGuard::allow_all())
}

fn forwarder() -> HttpForwarder {
    open_builder().build()
}

fn request(url: &str) -> ForwardRequest {
    ForwardRequest {
        method: Method::POST,
        url: url.parse().expect("url"),
        headers: HeaderMap::new(),
        body: "payload".into(),
        timeout: AMPLE,
        tls_verification: true,
        max_response_bytes: 64 * 1024,
        new_connection: false,
    }
}

fn with_header(mut request: ForwardRequest, name: &'static str, value: &str) -> ForwardRequest {
    request.headers.append(name, value.parse().expect("value"));
    request
}

/// A resolver that knows what the test tells it.
#[derive(Debug, Default)]
struct Names(Mutex<HashMap<&'static str, Vec<IpAddr>>>);

impl Names {
    fn of(names: impl IntoIterator<Item = (&'static str, Vec<IpAddr>)>) -> Arc<Self> {
        Arc::new(Self(Mutex::new(names.into_iter().collect())))
    }

    fn set(&self, name: &'static str, addresses: Vec<IpAddr>) {
        self.0.lock().expect("not poisoned").insert(name, addresses);
    }
}

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let names = self.0.lock().expect("not poisoned");
        names.get(host).cloned().ok_or_else(|| io::Error::other("no such host"))
    }
}

fn ip(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

fn url(scheme: &str, host: &str, address: SocketAddr) -> String {
    format!("{scheme}://{host}:{}/", address.port())
}
