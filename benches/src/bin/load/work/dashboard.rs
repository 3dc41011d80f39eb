//! The dashboard: its pages over a bucket of a million logs, and its live lists beside a load.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    thread,
    time::Duration,
};

use super::{Progress, generator::Generator, sink::Sink};
use crate::{
    Outcome,
    api::{KEY, text},
    measured::Measured,
    options::Context,
    part::generator::{Body, Plan},
    seed::{self, Seed},
    subject::server::Server,
};

/// Switches the dashboard on, at an address of its own.
pub(crate) const LISTEN: (&str, &str) = ("WEBHOOK_DASHBOARD_LISTEN", "127.0.0.1:0");

/// Time enough for any page.
const PATIENCE: Duration = Duration::from_secs(60);

/// What every page is to stay below, compressed by nobody.
const MOST_BYTES: usize = 100_000;

/// A page that looks through logs for as long as a search may, so that it is asked for less often.
const SEARCH: &str = "/dashboard/webhooks?search=nowhere";

/// Somebody who is signed in.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    address: SocketAddr,
    cookie: String,
}

impl Visitor {
    pub(crate) fn sign_in(address: SocketAddr) -> Outcome<Self> {
        let form = format!("key={KEY}&secret=");
        let stream = ask(address, "POST", "/dashboard/sign-in", "", &form)?;
        let head = read(stream)?.0;
        let set = head.lines().filter_map(|line| line.split_once(": "));
        let mut set = set.filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
        let cookies = set.find_map(|(_, value)| value.split_once(';'));
        let cookie = cookies.ok_or_else(|| format!("nobody is signed in: {head}"))?.0.to_owned();
        Ok(Self { address, cookie })
    }

    /// A page, which has to be there.
    fn page(&self, path: &str) -> Outcome<String> {
        let (head, body) = read(ask(self.address, "GET", path, &self.cookie, "")?)?;
        match head.split_whitespace().nth(1) {
            Some("200") => Ok(body),
            _ => Err(format!("GET {path}: {head}").into()),
        }
    }

    /// Keeps a live list of all webhooks open until the process ends or the server does.
    pub(crate) fn watch(&self) -> Outcome<()> {
        let mut stream = ask(self.address, "GET", "/dashboard/webhooks/live", &self.cookie, "")?;
        let mut first = [0; 12];
        stream.read_exact(&mut first)?;
        if &first != b"HTTP/1.1 200" {
            return Err(format!("no live list: {}", String::from_utf8_lossy(&first)).into());
        }
        stream.set_read_timeout(None)?;
        thread::spawn(move || {
            let mut events = [0; 1 << 16];
            while matches!(stream.read(&mut events), Ok(count) if count > 0) {}
        });
        Ok(())
    }

    fn headers(&self) -> Vec<(String, String)> {
        vec![
            ("host".to_owned(), self.address.to_string()),
            ("cookie".to_owned(), self.cookie.clone()),
        ]
    }
}

fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    cookie: &str,
    form: &str,
) -> Outcome<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\norigin: http://{address}\r\n\
         cookie: {cookie}\r\ncontent-type: application/x-www-form-urlencoded\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{form}",
        form.len()
    );
    stream.write_all(request.as_bytes())?;
    Ok(stream)
}

/// The head and the body of an answer.
fn read(mut stream: TcpStream) -> Outcome<(String, String)> {
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("no answer")?;
    Ok((head.to_owned(), body.to_owned()))
}

pub(super) fn measure(context: &Context, progress: &Progress<'_>) -> Outcome<Measured> {
    let seeded = Seed::Logs.make(context, context.scale.rows)?;
    let folder = context.scratch()?;
    let sink = Sink::start(context, Duration::ZERO)?;
    progress("copying");
    seeded.copy_to(folder.path(), &sink.url(0))?;
    let keep = ("WEBHOOK_LOG_RETENTION", "forever");
    let server = Server::start(context, folder.path(), &[keep, LISTEN])?;
    let address = server.dashboard.ok_or("the server has no dashboard")?;
    let visitor = Visitor::sign_in(address)?;
    let bucket = text(&seeded.bucket["id"])?;
    let whole = server.api.json("GET", &format!("/v1/buckets/{bucket}"), None)?;
    let output = text(&whole["outputs"][0]["id"])?;
    let newest = server.api.json("GET", &format!("/v1/logs?bucket={bucket}&limit=2"), None)?;
    let (log, other) = (text(&newest["data"][0]["id"])?, text(&newest["data"][1]["id"])?);
    let pages = [
        ("overview", "/dashboard".to_owned()),
        ("buckets", "/dashboard/buckets".to_owned()),
        ("a bucket", format!("/dashboard/buckets/{bucket}")),
        ("an output", format!("/dashboard/buckets/{bucket}/outputs/{output}")),
        ("rules", format!("/dashboard/buckets/{bucket}/outputs/{output}/rules")),
        ("webhooks", "/dashboard/webhooks".to_owned()),
        ("webhooks that failed", format!("/dashboard/webhooks?bucket={bucket}&status=failed")),
        ("a search", SEARCH.to_owned()),
        ("a webhook", format!("/dashboard/webhooks/{log}")),
        ("compare", format!("/dashboard/compare?a={log}&b={other}")),
        ("functions", "/dashboard/functions".to_owned()),
        ("agents", "/dashboard/agents".to_owned()),
        ("usage", "/dashboard/usage".to_owned()),
    ];
    let mut measured = Measured::default();
    let mut asking = Generator::start(context)?;
    for (name, path) in pages {
        progress(name);
        let bytes = visitor.page(&path)?.len();
        measured.value(format!("{name} KB"), bytes as f64 / 1e3);
        measured.never(
            &format!("{name}: bytes of a page too large"),
            match bytes {
                0..=MOST_BYTES => 0,
                _ => bytes as u64,
            },
        );
        let plan = Plan {
            method: "GET".to_owned(),
            headers: visitor.headers(),
            body: Body::Text(String::new()),
            connections: 1,
            // As people ask: one page ends before the next is wanted.
            rate: Some(if path == SEARCH { 2.0 } else { 20.0 }),
            ..seed::events(address, vec![path], 0, context.scale.load)
        };
        let answered = asking.run(&plan, |_| Ok(()))?;
        measured.value(format!("{name} p50 ms"), answered.latency.p50);
        measured.value(format!("{name} p99 ms"), answered.latency.p99);
        let others = answered.failed + answered.broken + answered.refused;
        measured.never(&format!("{name} that failed"), others);
    }
    Ok(measured)
}
