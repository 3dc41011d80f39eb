//! A dashboard on stores in memory, and somebody who looks at it.

use std::sync::Arc;

use crate::{
    account,
    functions::{self, Words},
};
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Method, Request, StatusCode, header},
};
use http::request::Builder;
use scraper::{Html, Selector};
use tower_service::Service;
use webhook_core::{
    Error, Webhooks,
    admin::{AdminOptions, Caller},
    forward::ScriptedForwarder,
    model::{Bucket, BucketSpec, Log, OutputSpec, TokenSpec},
    store::{Stores, memory::MemoryStore},
};
use webhook_dashboard::{Dashboard, DashboardOptions, SessionKey};

use axum::http;

/// A dashboard with one account, which has one bucket with one output.
pub(crate) struct House {
    pub(crate) webhooks: Webhooks,
    pub(crate) dashboard: Dashboard,
    pub(crate) router: Router,
    pub(crate) me: Caller,
    pub(crate) key: String,
    pub(crate) bucket: Bucket,
    /// The cookie of who signed in with the API key.
    pub(crate) cookie: String,
}

/// A whole answer.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn html(&self) -> Html {
        Html::parse_document(&self.text)
    }

    /// The text of what the selector finds.
    pub(crate) fn texts(&self, selector: &str) -> Vec<String> {
        let html = self.html();
        let selector = select(selector);
        let found = html.select(&selector).map(|it| it.text().collect::<String>());
        found.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        self
    }

    /// The cookie that it sets, as it is sent back.
    pub(crate) fn cookie(&self) -> String {
        let set = self.header("set-cookie");
        set.split(';').next().unwrap_or_default().to_owned()
    }
}

pub(crate) fn select(selector: &str) -> Selector {
    Selector::parse(selector).expect("a selector")
}

impl House {
    pub(crate) async fn build() -> Result<Self, Error> {
        let mut options = AdminOptions::default();
        options.domain_blocklist.add("kept.example.org").expect("a domain");
        let webhooks = Webhooks::builder(Stores::of(MemoryStore::default()))
            .forwarder(ScriptedForwarder::new())
            .functions(Arc::new(Words))
            .generator(Arc::new(Words))
            .admin_options(options)
            .build();
        let admin = webhooks.admin();
        let (account, key) = admin.create_account("me", None).await?;
        let me = Caller::for_account(account.id);
        let bucket = admin.create_bucket(&me, BucketSpec::new("orders")).await?;
        let spec = OutputSpec::new("shop", "https://example.com/orders");
        admin.create_output(&me, bucket.id, spec).await?;
        let bucket = admin.bucket(&me, bucket.id).await?;
        let mut options = DashboardOptions::new(SessionKey::new([7; 32]));
        options.input_base = "http://hooks.test".to_owned();
        let dashboard = Dashboard::new(webhooks.clone(), options);
        let router = dashboard.router();
        let key = key.key.expose().to_owned();
        let mut house =
            Self { webhooks, dashboard, router, me, key, bucket, cookie: String::new() };
        house.cookie = house.signed_in(&house.key.clone(), "").await;
        Ok(house)
    }

    /// The cookie of who signed in with these credentials.
    pub(crate) async fn signed_in(&self, key: &str, secret: &str) -> String {
        let form = [("key", key), ("secret", secret)];
        let answer = self.post_as("", "/dashboard/sign-in", &form).await.expect(303);
        answer.cookie()
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let mut router = self.router.clone();
        let response = router.call(request).await.expect("infallible");
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, 64 << 20).await.expect("a body");
        let text = String::from_utf8_lossy(&body).into_owned();
        Answer { status: parts.status, headers: parts.headers, text }
    }

    pub(crate) fn request(&self, method: Method, path: &str, cookie: &str) -> Builder {
        let request = Request::builder().method(method).uri(path).header(header::HOST, "here");
        request.header(header::COOKIE, cookie)
    }

    /// A page as who signed in with the API key sees it.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.get_as(&self.cookie, path).await
    }

    pub(crate) async fn get_as(&self, cookie: &str, path: &str) -> Answer {
        let request = self.request(Method::GET, path, cookie).body(Body::empty());
        self.send(request.expect("a request")).await
    }

    /// A form as a page of the dashboard sends it.
    pub(crate) async fn post(&self, path: &str, form: &[(&str, &str)]) -> Answer {
        self.post_as(&self.cookie, path, form).await
    }

    pub(crate) async fn post_as(&self, cookie: &str, path: &str, form: &[(&str, &str)]) -> Answer {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let request = self.request(Method::POST, path, cookie);
        let request = request.header("sec-fetch-site", "same-origin").body(Body::from(body));
        self.send(request.expect("a request")).await
    }

    /// Receives a webhook, and answers what is in the log of it.
    pub(crate) async fn receive(&self, request: http::request::Builder, body: Vec<u8>) -> Log {
        let request = request.body(http_body_util::Full::new(body.into()));
        let response = self.webhooks.ingest().receive(request.expect("a request")).await;
        assert!(response.status().is_success(), "{response:?}");
        self.latest().await
    }

    pub(crate) async fn latest(&self) -> Log {
        let mut query = webhook_core::admin::LogQuery::default();
        query.limit = 1;
        let found = self.webhooks.admin().logs(&self.me, &query).await.expect("the log");
        found.logs.into_iter().next().expect("a webhook")
    }

    /// A webhook like any other.
    pub(crate) async fn webhook(&self) -> Log {
        let path = format!("/v1/webhooks/{}", self.bucket.inputs[0].id);
        let request = Request::post(path).header("content-type", "application/json");
        self.receive(request, br#"{"order": 17}"#.to_vec()).await
    }

    /// The cookie of a token that reaches these buckets only.
    pub(crate) async fn token_for(&self, buckets: &[&str]) -> String {
        let mut spec = TokenSpec::default();
        spec.scopes.buckets = buckets.iter().map(|name| (*name).to_owned()).collect();
        let made = self.webhooks.admin().create_token(&self.me, spec).await.expect("a token");
        self.signed_in(&made.token.id.to_string(), made.secret.expose()).await
    }

    /// All pages that can be looked at, with what is there.
    pub(crate) async fn all_pages(&self) -> Vec<String> {
        let mut pages = self.pages().await;
        pages.extend(self.account_pages().await);
        pages
    }

    /// The pages of what belongs to the account as a whole.
    pub(crate) async fn account_pages(&self) -> Vec<String> {
        let (function, run) = functions::made(self).await;
        let log = self.latest().await.delivery.id;
        let cron = account::made(self).await;
        self.token_for(&["orders"]).await;
        let token = self.webhooks.admin().tokens(&self.me).await.expect("tokens")[0].id;
        let own = [
            "/functions".to_owned(),
            "/functions/new".to_owned(),
            "/functions/generate".to_owned(),
            format!("/functions/generate?log={log}"),
            format!("/functions/{function}"),
            format!("/functions/{function}?log={log}"),
            format!("/functions/{function}?run={run}"),
            format!("/functions/{function}/runs"),
            format!("/functions/{function}/runs/{run}"),
            format!("/functions/{function}/versions"),
            format!("/functions/{function}/versions/1"),
            "/crons".to_owned(),
            "/crons/new".to_owned(),
            format!("/crons/{cron}"),
            "/domains".to_owned(),
            "/agents".to_owned(),
            "/notifications".to_owned(),
            "/notifications/new".to_owned(),
            "/usage".to_owned(),
            "/usage/billing-details".to_owned(),
            "/keys".to_owned(),
            "/keys/tokens/new".to_owned(),
            format!("/keys/tokens/{token}"),
        ];
        own.into_iter().map(|path| format!("/dashboard{path}")).collect()
    }

    /// The pages that a token with a scope sees as well, with what is there.
    pub(crate) async fn pages(&self) -> Vec<String> {
        let log = self.webhook().await.delivery.id;
        let (bucket, input, output) =
            (self.bucket.id, self.bucket.inputs[0].id, self.bucket.outputs[0].id);
        let own = [
            String::new(),
            "/replays".to_owned(),
            "/replays/new?status=failed".to_owned(),
            "/erasures/new?status=failed".to_owned(),
            "/buckets".to_owned(),
            "/buckets?q=nothing".to_owned(),
            "/buckets/new".to_owned(),
            format!("/buckets/{bucket}"),
            format!("/buckets/{bucket}/settings"),
            format!("/buckets/{bucket}/inputs/new"),
            format!("/buckets/{bucket}/inputs/{input}"),
            format!("/buckets/{bucket}/inputs/{input}/signature"),
            format!("/buckets/{bucket}/inputs/{input}/signature?provider=meta"),
            format!("/buckets/{bucket}/inputs/{input}/signature?provider=custom"),
            format!("/buckets/{bucket}/inputs/{input}/deduplication"),
            format!("/buckets/{bucket}/outputs/new"),
            format!("/buckets/{bucket}/outputs/{output}"),
            format!("/buckets/{bucket}/outputs/{output}/rules"),
            format!("/buckets/{bucket}/outputs/{output}/signing"),
            format!("/buckets/{bucket}/outputs/{output}/health"),
            format!("/buckets/{bucket}/outputs/{output}/pausing"),
            format!("/buckets/{bucket}/outputs/{output}/auth"),
            format!("/buckets/{bucket}/outputs/{output}/auth?type=gcp_service_account"),
            "/webhooks".to_owned(),
            "/webhooks?status=failed&live=off".to_owned(),
            "/webhooks?reason=signature&search=nothing".to_owned(),
            format!("/webhooks/{log}"),
            format!("/webhooks/{log}?view=raw"),
            format!("/webhooks/{log}?view=hex"),
            format!("/webhooks/{log}/edit"),
            format!("/compare?a={log}"),
            format!("/compare?a={log}&b={log}"),
        ];
        own.into_iter().map(|path| format!("/dashboard{path}")).collect()
    }
}
