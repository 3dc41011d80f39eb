//! One webhook to the local service, and the report about it.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{Method, Uri};
use serde_json::{Value, json};
use tokio::time::sleep;
use webhook_core::{
    Clock, SystemClock,
    forward::{ForwardError, ForwardRequest, ForwardResponse, Forwarder, http::HttpForwarder},
    guard::AddressGuard,
    model::{Headers, OutputSpec},
    retry::{self, Next, Outcome, Progress},
};

use super::{
    Broken,
    api::Api,
    catch_up::CatchUp,
    connection::Webhook,
    leases::Leases,
    ledger::{Ledger, Seen},
    one_line,
    target::{Address, Target},
};
use crate::failure::Failure;

/// How long one attempt may take.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest answer of the local service that is passed on to the sender.
const MAX_ANSWER_BYTES: usize = 512 << 10;
/// The longest wait between attempts; a service that asks for more has failed.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// The longest pause between attempts to report.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The local service, and how it is reached. Nothing of it is the server's to say.
pub(super) struct Local {
    target: Target,
    http: HttpForwarder,
    /// Whether the certificate of the service is verified.
    verifies: bool,
}

impl Local {
    pub(super) fn new(
        target: &Uri,
        insecure: bool,
        ca_file: Option<&Path>,
    ) -> Result<Self, Failure> {
        let mut http = HttpForwarder::builder().guard(AddressGuard::allow_all());
        if let Some(path) = ca_file {
            let of_file = format!("--ca-file {}", path.display());
            let pem = std::fs::read(path).map_err(|error| Failure::io(of_file.clone(), error))?;
            let trusting = http.add_root_certificates(&pem);
            http = trusting.map_err(|error| Failure::new(format!("{of_file}: {error}")))?;
        }
        Ok(Self { target: Target::new(target), http: http.build(), verifies: !insecure })
    }
}

/// Delivers webhooks, each once.
pub(super) struct Deliverer {
    api: Arc<Api>,
    local: Local,
    ledger: Ledger,
    leases: Arc<Leases>,
    catch_up: Arc<CatchUp>,
}

type Answer = Result<ForwardResponse, ForwardError>;

impl Deliverer {
    pub(super) fn new(
        api: Arc<Api>,
        local: Local,
        leases: Arc<Leases>,
        catch_up: Arc<CatchUp>,
    ) -> Arc<Self> {
        Arc::new(Self { api, local, ledger: Ledger::default(), leases, catch_up })
    }

    /// Delivers a webhook and reports what came of it. One that has been
    /// delivered already is only reported again.
    pub(super) async fn deliver(&self, webhook: Webhook) {
        let id = webhook.meta.id;
        let seen = self.ledger.begin(id);
        if webhook.meta.leased_until.is_some() && seen != Seen::UnderWay {
            self.leases.hold(id);
        }
        let report = match seen {
            Seen::UnderWay => return,
            Seen::Delivered(report) => report,
            Seen::New => {
                let report = match self.address(&webhook) {
                    Address::At(url) => self.attempt(webhook, &url).await,
                    Address::Elsewhere => return self.give_back(&webhook).await,
                    Address::Above => {
                        let path = webhook.meta.extra_path.unwrap_or_default();
                        self.line(&webhook.method, &path, "leads above the target", Duration::ZERO);
                        json!({ "status": "failed", "status_code": 0 })
                    }
                };
                self.ledger.delivered(id, report.clone());
                report
            }
        };
        if self.report(&format!("/v1/logs/{id}"), &report).await {
            self.ledger.reported(id);
        }
        self.leases.let_go(id);
        self.catch_up.delivered();
    }

    /// Where a webhook goes. The user is told once that the output has another destination.
    fn address(&self, webhook: &Webhook) -> Address {
        let told = |line: &str| self.catch_up.note(line);
        self.local.target.address(&webhook.meta, &webhook.query, told)
    }

    /// Leaves a webhook that is not for this agent to another one.
    async fn give_back(&self, webhook: &Webhook) {
        let id = webhook.meta.id;
        let destination = one_line(&webhook.meta.output_destination);
        self.catch_up.note(&format!(
            "{id} is given back: {destination} is not below the target of this agent"
        ));
        self.report(&format!("/v1/logs/{id}"), &json!({ "status": "received" })).await;
        self.ledger.forget(id);
        self.leases.let_go(id);
    }

    /// Sends it, a few times if need be, and says what to report.
    async fn attempt(&self, webhook: Webhook, url: &str) -> Value {
        let Webhook { headers, body, body_encoding, method, .. } = webhook;
        let body = match &*body_encoding {
            "base64" => STANDARD.decode(&body).unwrap_or_else(|_| body.into_bytes()).into(),
            _ => Bytes::from(body),
        };
        let (Ok(url), Ok(method)) = (url.parse::<Uri>(), method.parse::<Method>()) else {
            self.line(&method, url, "cannot be sent: not a valid URL or method", Duration::ZERO);
            return json!({ "status": "stalled" });
        };
        let mut request = ForwardRequest::new(method.clone(), url.clone());
        (request.headers, request.body) = (headers.0, body);
        request.timeout = ATTEMPT_TIMEOUT;
        request.tls_verification = self.local.verifies;
        request.max_response_bytes = MAX_ANSWER_BYTES;
        let (answer, attempts, took) = self.send(request).await;
        let path = path_of(&url);
        let mut report = match &answer {
            Ok(response) => {
                let status = response.status;
                self.line(method.as_str(), path, status.as_str(), took);
                json!({
                    "status": if status.is_success() { "sent" } else { "failed" },
                    "status_code": status.as_u16(),
                    "response_headers": Headers(response.headers.clone()),
                    "response_body": STANDARD.encode(&response.body),
                })
            }
            Err(error) => {
                self.line(method.as_str(), path, &told(error), took);
                json!({ "status": "stalled", "status_code": 0 })
            }
        };
        report["retries"] = json!(attempts - 1);
        report["duration_ms"] = json!(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        report
    }

    /// One attempt. When the service did not process the request, or a kept connection ended before
    /// an answer, the agent immediately sends one more time. The head of a 2xx is an answer.
    async fn send_once(&self, request: &ForwardRequest) -> Answer {
        use ForwardError::{Incomplete, KeptClosed, Unprocessed};
        let mut answer = self.local.http.forward(request.clone()).await;
        if let Err(KeptClosed { .. } | Unprocessed { .. }) = answer {
            let mut again = request.clone();
            again.new_connection = true;
            answer = self.local.http.forward(again).await;
        }
        match answer {
            Err(Incomplete { head, .. }) if head.status.is_success() => Ok(*head),
            answer => answer,
        }
    }

    /// The attempts; the last answer, how many, and how long the last one took.
    async fn send(&self, request: ForwardRequest) -> (Answer, u32, Duration) {
        // The schedule of an output that says nothing: at once, 1 s, 5 s.
        let spec = OutputSpec::default();
        let received_at = SystemClock.now();
        let mut attempts = 0;
        loop {
            let started = Instant::now();
            let answer = self.send_once(&request).await;
            let took = started.elapsed();
            attempts += 1;
            let now = SystemClock.now();
            let outcome = Outcome::of(answer.as_ref(), now);
            let progress = Progress { attempts, received_at, now };
            match retry::next(&spec, &progress, outcome, fastrand::f64()) {
                Next::RetryAt(at) if at.since(now) <= LONGEST_WAIT => {
                    let (method, path) = (request.method.as_str(), path_of(&request.url));
                    let came = match &answer {
                        Ok(response) => response.status.as_str().to_owned(),
                        Err(error) => told(error),
                    };
                    let wait = at.since(now);
                    let again = format!("{came}, sent again in {:.1} s", wait.as_secs_f64());
                    self.line(method, path, &again, took);
                    sleep(wait).await;
                }
                _ => return (answer, attempts, took),
            }
        }
    }

    /// Reports until the server has it; whether it took it.
    async fn report(&self, path: &str, report: &Value) -> bool {
        let mut pause = Duration::from_millis(250);
        loop {
            let trouble = match self.api.call(Method::PUT, path, Some(report)).await {
                Ok(answer) if answer.status.is_success() => return true,
                Ok(answer) if answer.status.is_server_error() || answer.status.as_u16() == 429 => {
                    Broken::Passing(format!("the server answered {}", answer.status))
                }
                Ok(answer) => {
                    let text = one_line(String::from_utf8_lossy(&answer.body).trim());
                    let status = answer.status;
                    self.catch_up.note(&format!("a report was refused: {status}: {text}"));
                    return false;
                }
                Err(broken) => broken,
            };
            tracing::debug!(%trouble, "a report waits");
            sleep(pause.mul_f64(0.5 + fastrand::f64() / 2.0)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Tells the user of a webhook: time (UTC), method, path, outcome, milliseconds.
    fn line(&self, method: &str, path: &str, outcome: &str, took: Duration) {
        let seconds = SystemClock.now().as_secs().rem_euclid(86_400);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let millis = took.as_millis();
        self.catch_up.say(&one_line(&format!(
            "{hour:02}:{minute:02}:{second:02}  {method:<6} {path}  {outcome}  {millis} ms"
        )));
    }
}

fn path_of(url: &Uri) -> &str {
    url.path_and_query().map_or("/", |path| path.as_str())
}

/// Why the local service gave no answer, and what to do about a certificate.
fn told(error: &ForwardError) -> String {
    let said = error.to_string();
    match said.contains("tls: ") && said.contains("certificate ") && !said.contains("client") {
        true => format!("{said} (--ca-file FILE trusts it, --insecure trusts any)"),
        false => said,
    }
}
