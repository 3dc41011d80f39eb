//! Keys that are fetched: where they are, and what was found there.

use url::Url;

use crate::{
    KeyEncoding, KeyKind, KeyRequest, Keys, Reason,
    challenge::for_each_text,
    compile::Compiled,
    context::Context,
    key::{self, Key, NamedKey},
    template::{Scope, Template},
    verifier::Stop,
};

impl Compiled {
    /// Where the key of this request is.
    pub(crate) fn key_request(
        &self,
        context: &Context<'_>,
        kid: Option<&str>,
        with: Option<&Key>,
    ) -> Result<KeyRequest, Reason> {
        let Self { scheme, key_url, .. } = self;
        let secret = match with {
            Some(Key::Text(secret)) => Some(secret.expose().as_bytes()),
            _ => None,
        };
        let scope = Scope { kid, ..Scope::default() };
        let url = String::from_utf8(key_url.to_bytes(context, &scope)?).unwrap_or_default();
        let hosts = match scheme.key.hosts.as_slice() {
            [] => vec![host_of(&scheme.key.url)],
            hosts => hosts.to_vec(),
        };
        let url = allowed_url(&url, &hosts, &scheme.key.path).ok_or_else(|| {
            Reason::Malformed("key URL: it is not on a host of the provider".into())
        })?;
        let kind = match scheme.key.encoding {
            KeyEncoding::Certificate => KeyKind::Certificate,
            _ => KeyKind::Jwks,
        };
        let mut body = scheme.key.post.clone();
        if let Some(json) = &mut body {
            let scope = Scope { kid, secret, ..Scope::default() };
            let mut done = Ok(());
            for_each_text(json, &mut |text| {
                if done.is_ok() {
                    done = filled(text, context, &scope).map(|filled| *text = filled);
                }
            });
            done?;
        }
        Ok(KeyRequest { url, kind, body: body.map(|json| json.to_string()) })
    }
}

/// The text that the template in a text stands for.
fn filled(text: &str, context: &Context<'_>, scope: &Scope<'_>) -> Result<String, Reason> {
    let template = Template::parse(text).map_err(Reason::Malformed)?;
    Ok(String::from_utf8(template.to_bytes(context, scope)?).unwrap_or_default())
}

/// The keys that the caller fetched.
pub(crate) fn fetched(request: KeyRequest, keys: &Keys) -> Result<Vec<NamedKey>, Stop> {
    match keys.get(&request) {
        None => Err(Stop::NeedsKey(request)),
        Some(document) => {
            let keys = document.and_then(key::document);
            keys.ok_or(Stop::Failed(Reason::KeyUnavailable))
        }
    }
}

/// The host of a URL that begins with `https://` and it.
fn host_of(url: &str) -> String {
    let rest = url.strip_prefix("https://").unwrap_or_default();
    rest.split(['/', '?', '#', ':']).next().unwrap_or_default().to_owned()
}

/// The URL as it is fetched, if it is on one of these hosts and its path begins with this.
pub(crate) fn allowed_url(url: &str, hosts: &[String], path: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let host = url.host_str()?;
    let is_plain = url.scheme() == "https"
        && url.port().is_none()
        && url.username().is_empty()
        && url.password().is_none()
        && url.fragment().is_none();
    let matches = |pattern: &String| {
        let (mut wanted, mut found) = (pattern.split('.'), host.split('.'));
        let alike = wanted
            .by_ref()
            .zip(found.by_ref())
            .all(|(wanted, found)| wanted == found || wanted == "*" && !found.is_empty());
        alike && pattern.split('.').count() == host.split('.').count()
    };
    let is_there = url.path().starts_with(path) && (path.is_empty() || url.query().is_none());
    (is_plain && is_there && hosts.iter().any(matches)).then(|| url.into())
}
