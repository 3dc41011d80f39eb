//! The management operations that the agent and other commands need.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header::AUTHORIZATION};
use serde_json::{Value, json};
use webhook_core::{
    BucketId, FunctionId,
    forward::{ForwardRequest, ForwardResponse, Forwarder, http::HttpForwarder},
    guard::AddressGuard,
    model::Secret,
};

use super::Broken;
use crate::failure::Failure;

const TIMEOUT: Duration = Duration::from_secs(30);
/// The longest answer that is read: enough for a thousand buckets.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// Key and secret, as the WebSocket and Basic take them.
#[derive(Clone)]
pub(super) struct Credential {
    pub(super) key: String,
    pub(super) secret: String,
}

impl Credential {
    /// `sk-…`, or an access token's `key:secret`.
    pub(super) fn parse(text: &Secret) -> Result<Self, Failure> {
        let text = text.expose();
        let pair = match text.split_once(':') {
            None if text.starts_with("sk-") => Some(("whr", text)),
            pair => pair,
        };
        let (key, secret) = pair.ok_or_else(|| {
            Failure::new("WEBHOOK_API_KEY must be an API key, sk-…, or an access token, key:secret")
        })?;
        Ok(Self { key: key.to_owned(), secret: secret.to_owned() })
    }
}

/// The server's API.
pub(crate) struct Api {
    pub(super) http: HttpForwarder,
    /// Without a slash at its end.
    pub(super) base: String,
    authorization: HeaderValue,
    credential: Credential,
}

/// Where this agent belongs.
pub(super) struct Place {
    pub(super) bucket_id: BucketId,
    pub(super) output_id: String,
    pub(super) output_name: String,
    pub(super) public_url: String,
}

impl Api {
    pub(super) fn new(server: &Uri, credential: Credential) -> Result<Self, Failure> {
        let Credential { key, secret } = &credential;
        let basic = format!("Basic {}", STANDARD.encode(format!("{key}:{secret}")));
        let mut authorization = HeaderValue::try_from(basic)
            .map_err(|error| Failure::caused_by("cannot use the credential", error))?;
        authorization.set_sensitive(true);
        let http = HttpForwarder::builder().guard(AddressGuard::allow_all()).build();
        let base = server.to_string().trim_end_matches('/').to_owned();
        Ok(Self { http, base, authorization, credential })
    }

    pub(super) fn credential(&self) -> &Credential {
        &self.credential
    }

    /// Calls an operation.
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<ForwardResponse, Broken> {
        let url = format!("{}{path}", self.base);
        let url = url.parse().map_err(|_| Broken::Refused(format!("{url} is not a URL")))?;
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, self.authorization.clone());
        let body = match body {
            Some(body) => {
                let json = HeaderValue::from_static("application/json");
                headers.insert(http::header::CONTENT_TYPE, json);
                Bytes::from(body.to_string())
            }
            None => Bytes::new(),
        };
        let mut request = ForwardRequest::new(method, url);
        (request.headers, request.body) = (headers, body);
        request.timeout = TIMEOUT;
        request.max_response_bytes = MAX_ANSWER_BYTES;
        let answer = self.http.forward(request).await;
        answer.map_err(|error| Broken::Passing(format!("cannot reach {}: {error}", self.base)))
    }

    /// Calls an operation that answers JSON.
    pub(crate) async fn json(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, Broken> {
        let answer = self.accepted(method.clone(), path, body).await?;
        serde_json::from_slice(&answer.body)
            .map_err(|error| Broken::Passing(format!("{method} {path}: {error}")))
    }

    /// Calls an operation whose answer says nothing.
    pub(crate) async fn done(&self, method: Method, path: &str) -> Result<(), Broken> {
        self.accepted(method, path, None).await.map(|_| ())
    }

    async fn accepted(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<ForwardResponse, Broken> {
        let answer = self.call(method.clone(), path, body).await?;
        if answer.status.is_success() {
            return Ok(answer);
        }
        let text = String::from_utf8_lossy(&answer.body);
        let said = format!("{method} {path}: {}: {}", answer.status.as_u16(), text.trim());
        let passing = answer.status.is_server_error()
            || matches!(answer.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
        Err(if passing { Broken::Passing(said) } else { Broken::Refused(said) })
    }

    /// Makes bucket and output when they are missing, and the output as it is to be.
    pub(super) async fn ensure(
        &self,
        bucket: &str,
        output: &str,
        function: Option<&str>,
        target: &Uri,
    ) -> Result<Place, Broken> {
        let function = match function {
            Some(function) => Some(self.function(function).await?),
            None => None,
        };
        let buckets = self.json(Method::GET, "/v1/buckets", None).await?;
        let bucket = match find(&buckets, bucket) {
            Some(bucket) => bucket.clone(),
            None => {
                self.json(Method::POST, "/v1/buckets", Some(&json!({ "name": bucket }))).await?
            }
        };
        let bucket_id: BucketId = text(&bucket, "id")
            .parse()
            .map_err(|_| Broken::Passing("the server's answer is not a bucket".to_owned()))?;
        let path = format!("/v1/buckets/{bucket_id}/outputs");
        let mut spec = match find(&bucket["outputs"], output) {
            Some(known) => known.clone(),
            None => json!({ "name": output }),
        };
        if spec.get("id").is_some() && spec["internal"] != json!(true) {
            let name = text(&spec, "name");
            return Err(Broken::Refused(format!("the output {name} is not an internal one")));
        }
        let before = spec.clone();
        spec["internal"] = json!(true);
        spec["destination"] = json!(target.to_string());
        if let Some(function) = function {
            spec["function_id"] = json!(function);
        }
        let output = match before.get("id").and_then(Value::as_str) {
            _ if spec == before => spec,
            Some(id) => self.json(Method::PUT, &format!("{path}/{id}"), Some(&spec)).await?,
            None => self.json(Method::POST, &path, Some(&spec)).await?,
        };
        let input = text(&bucket["inputs"][0], "id");
        if input.is_empty() {
            return Err(Broken::Refused("the bucket has no input: make one".to_owned()));
        }
        Ok(Place {
            bucket_id,
            output_id: text(&output, "id").to_owned(),
            output_name: text(&output, "name").to_owned(),
            public_url: format!("{}/v1/webhooks/{input}", self.base),
        })
    }

    /// Makes the function, or gives the one of this name its source; its ID.
    pub(crate) async fn push_function(&self, name: &str, spec: &Value) -> Result<String, Broken> {
        let functions = self.json(Method::GET, "/v1/functions", None).await?;
        let mut known = functions
            .as_array()
            .into_iter()
            .flatten()
            .filter(|function| text(function, "name") == name);
        let (first, second) = (known.next(), known.next());
        if second.is_some() {
            return Err(Broken::Refused(format!("more than one function is called {name}")));
        }
        let function = match first {
            Some(known) => {
                let mut spec = spec.clone();
                spec["metadata"] = known["metadata"].clone();
                let path = format!("/v1/functions/{}", text(known, "id"));
                self.json(Method::PUT, &path, Some(&spec)).await?
            }
            None => self.json(Method::POST, "/v1/functions", Some(spec)).await?,
        };
        Ok(text(&function, "id").to_owned())
    }

    /// The ID of the function with this ID or name.
    pub(crate) async fn function(&self, function: &str) -> Result<String, Broken> {
        if function.parse::<FunctionId>().is_ok() {
            return Ok(function.to_owned());
        }
        let functions = self.json(Method::GET, "/v1/functions", None).await?;
        let known = find(&functions, function).map(|known| text(known, "id").to_owned());
        known.ok_or_else(|| Broken::Refused(format!("there is no function {function}")))
    }
}

/// The resource with this ID or name.
fn find<'a>(resources: &'a Value, id_or_name: &str) -> Option<&'a Value> {
    let resources = resources.as_array()?;
    let is = |key: &'static str| {
        resources.iter().find(move |resource| text(resource, key) == id_or_name)
    };
    is("id").or_else(|| is("name"))
}

fn text<'a>(resource: &'a Value, key: &str) -> &'a str {
    resource[key].as_str().unwrap_or_default()
}

/// A text as one segment of a path, or as a value in a query.
pub(crate) fn escaped(key: &str) -> String {
    let mut path = String::new();
    for byte in key.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                path.push(byte.into());
            }
            byte => path.push_str(&format!("%{byte:02X}")),
        }
    }
    path
}
