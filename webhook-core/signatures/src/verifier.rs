//! A scheme and secrets, compiled, and what they say about a request.

use std::borrow::Cow;

use ring::{
    digest::{SHA256, digest},
    hmac,
};

use crate::{
    Algorithm, Challenge, Field, HandshakeAction, KeyEncoding, KeyRequest, Keys, Now, Reason,
    Request, Scheme, Secret, Source, Unit, Verdict,
    builder::VerifierBuilder,
    challenge::{holds, unmet},
    compile::{Compiled, CompiledSecret},
    context::Context,
    fetch::{allowed_url, fetched},
    jwt::Token,
    key::{Key, NamedKey, PublicAlgorithm},
    secret::{constant_time_eq, same},
    template::Scope,
};

/// A public key is asked about at most this many signatures of one request.
const MAX_PUBLIC_SIGNATURES: usize = 10;
/// What an identifier or the name of an event is at most long.
const MAX_ID_BYTES: usize = 256;
const MAX_PREVIEW_BYTES: usize = 4096;

/// Verifies requests. It is built once, and shared.
///
/// For each request, [`challenge`](Self::challenge) is asked first, then
/// [`verify`](Self::verify); where that needs a key, it is fetched and both are asked again.
///
/// ```
/// use webhook_signatures::{Keys, Now, Request, Verifier};
///
/// // The secret, body and signature of GitHub's documentation.
/// let verifier = Verifier::preset("github").secret("It's a Secret to Everybody").build()?;
/// let mut headers = http::HeaderMap::new();
/// headers.insert(
///     "x-hub-signature-256",
///     "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17".parse()?,
/// );
/// let request = Request {
///     method: "POST",
///     url: "https://hooks.example/in",
///     raw_query: "",
///     headers: &headers,
///     body: b"Hello, World!",
/// };
/// let now = Now::from_unix_seconds(1_700_000_000);
/// assert!(verifier.verify(&request, now, &Keys::new()).is_verified());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Verifier {
    pub(crate) compiled: Compiled,
}

/// What stands in the way of a verdict.
pub(crate) enum Stop {
    Failed(Reason),
    NeedsKey(KeyRequest),
}

impl From<Reason> for Stop {
    fn from(reason: Reason) -> Self {
        Self::Failed(reason)
    }
}

/// A signature that is right.
struct Match {
    secret_index: usize,
    /// What is the same for the same signed text, and cannot be chosen by who has no key.
    material: Vec<u8>,
}

impl Verifier {
    /// Builds a verifier by the scheme of a provider, one of [`presets`](crate::presets).
    pub fn preset(name: impl Into<String>) -> VerifierBuilder {
        VerifierBuilder::preset(name.into())
    }

    /// Builds a verifier by a scheme of the caller's own.
    pub fn custom(scheme: Scheme) -> VerifierBuilder {
        VerifierBuilder::custom(scheme)
    }

    /// Whether `request` is from whoever has one of the secrets.
    #[must_use]
    pub fn verify(&self, request: &Request<'_>, now: Now, keys: &Keys) -> Verdict {
        self.verdict(request, now, keys, true)
    }

    /// As [`verify`](Self::verify), for a request that was stored: how long ago it was signed
    /// does not count. The secrets are those that are valid `now`.
    #[must_use]
    pub fn verify_ignoring_time(&self, request: &Request<'_>, now: Now, keys: &Keys) -> Verdict {
        self.verdict(request, now, keys, false)
    }

    /// The answer, if `request` is a handshake of the provider. One that its sender signs is
    /// verified first, and is none if that fails; [`verify`](Self::verify) then says why.
    #[must_use]
    pub fn challenge(&self, request: &Request<'_>, now: Now, keys: &Keys) -> Option<Challenge> {
        let Compiled { handshakes, secrets, scheme, .. } = &self.compiled;
        let context = self.context(request);
        let handshake = handshakes.iter().find(|handshake| handshake.applies(&context))?;
        if handshake.spec.signed && !self.verify(request, now, keys).is_verified() {
            return None;
        }
        // Whoever sends a second one must not become the owner of the input's secret.
        if handshake.spec.action == Some(HandshakeAction::StoreSecret) && !secrets.is_empty() {
            return None;
        }
        let key = secrets.iter().filter(|secret| secret.is_valid(now)).find_map(|secret| {
            match &secret.key {
                Key::Hmac(key) => Some(key),
                _ => None,
            }
        });
        handshake.answer(&context, key, |url| allowed_url(url, &scheme.key.hosts, ""))
    }

    /// How far a signed timestamp may be from now, before and after, in nanoseconds.
    #[must_use]
    pub const fn tolerance_nanos(&self) -> i128 {
        self.compiled.tolerance
    }

    /// The sender's identifier of the delivery, if there is one of at most 256 bytes. Who
    /// asks has verified the request.
    #[must_use]
    pub fn delivery_id(&self, request: &Request<'_>) -> Option<String> {
        self.named(self.compiled.scheme.id.as_ref()?, request)
    }

    /// The sender's name for what happened, if there is one of at most 256 bytes. Who asks
    /// has verified the request.
    #[must_use]
    pub fn event(&self, request: &Request<'_>) -> Option<String> {
        self.named(self.compiled.scheme.event.as_ref()?, request)
    }

    /// The beginning of what the scheme signs of `request`, at most 4 096 bytes; secrets and
    /// parameters in it are masked. Empty for a shared token, which signs nothing.
    ///
    /// # Errors
    ///
    /// What the scheme signs is not there, or cannot be read.
    pub fn preview(&self, request: &Request<'_>) -> Result<Vec<u8>, Reason> {
        let Compiled { scheme, signature, url, parameters, .. } = &self.compiled;
        // Parameters are secrets to whoever reads: some providers sign with nothing else.
        let masked = parameters.keys().map(|name| (name.clone(), Secret::new("…"))).collect();
        let context = Context::new(request, url, &masked);
        let mut signed = match scheme.algorithm {
            Algorithm::Jwt | Algorithm::JwsDetached => {
                let text = context.value(signature)?;
                let token = Token::read(&text, scheme.algorithm == Algorithm::JwsDetached)?;
                token.signed(request.body)
            }
            _ => self.signed(&context, Some("…".as_bytes()))?.concat(),
        };
        signed.truncate(MAX_PREVIEW_BYTES);
        Ok(signed)
    }

    fn context<'a>(&'a self, request: &Request<'a>) -> Context<'a> {
        Context::new(request, &self.compiled.url, &self.compiled.parameters)
    }

    fn named(&self, field: &Field, request: &Request<'_>) -> Option<String> {
        let context = self.context(request);
        if field.source == Source::Claim {
            let text = context.value(&self.compiled.signature).ok()?;
            let claims = Token::read(&text, false).and_then(|token| token.claims()).ok()?;
            context.claims.set(claims).ok()?;
        }
        context.value(field).ok().filter(|text| (1..=MAX_ID_BYTES).contains(&text.len()))
    }

    fn verdict(&self, request: &Request<'_>, now: Now, keys: &Keys, time_counts: bool) -> Verdict {
        match self.judge(&self.context(request), now, keys, time_counts) {
            Ok(verdict) => verdict,
            Err(Stop::Failed(reason)) => Verdict::Failed(reason),
            Err(Stop::NeedsKey(request)) => Verdict::NeedsKey(request),
        }
    }

    fn judge(
        &self,
        context: &Context<'_>,
        now: Now,
        keys: &Keys,
        time_counts: bool,
    ) -> Result<Verdict, Stop> {
        let Compiled { scheme, timestamp, tolerance, .. } = &self.compiled;
        let Match { secret_index, material } = match scheme.algorithm {
            Algorithm::Token | Algorithm::Basic => self.by_token(context, now)?,
            Algorithm::Jwt | Algorithm::JwsDetached => self.by_jwt(context, now, keys)?,
            _ => self.by_signature(context, now, keys)?,
        };
        self.check_digest(context)?;
        self.check_required(context)?;
        if time_counts {
            self.check_claimed_times(context, now)?;
        }
        let Some(field) = timestamp else {
            return Ok(Verdict::Verified { secret_index, guard: None });
        };
        let signed_at = context.value(field)?;
        let unit = scheme.timestamp.as_ref().map(|timestamp| timestamp.unit).unwrap_or_default();
        let signed_at = read_time(&signed_at, unit)
            .ok_or_else(|| Reason::Malformed(format!("timestamp in {}", field.describe())))?;
        if time_counts && (now.unix_nanos() - signed_at).abs() > *tolerance {
            return Err(Reason::Timestamp.into());
        }
        let mut guard = [0; 32];
        guard.copy_from_slice(digest(&SHA256, &material).as_ref());
        Ok(Verdict::Verified { secret_index, guard: Some(guard) })
    }

    /// The secrets that are valid, by their place.
    fn secrets(&self, now: Now) -> impl Iterator<Item = (usize, &CompiledSecret)> {
        self.compiled.secrets.iter().enumerate().filter(move |(_, secret)| secret.is_valid(now))
    }

    fn by_token(&self, context: &Context<'_>, now: Now) -> Result<Match, Stop> {
        let Compiled { scheme, signature, .. } = &self.compiled;
        let sent = context.values(signature)?;
        let sent: Vec<Vec<u8>> = match scheme.algorithm {
            Algorithm::Basic => self.decoded(&sent)?,
            _ => sent.into_iter().map(String::into_bytes).collect(),
        };
        self.require_secret()?;
        let matching = self.secrets(now).find(|(_, secret)| {
            let Key::Text(secret) = &secret.key else { return false };
            sent.iter().any(|sent| same(secret.expose().as_bytes(), sent))
        });
        let (secret_index, _) = matching.ok_or(Reason::NoMatch)?;
        Ok(Match { secret_index, material: Vec::new() })
    }

    fn by_signature(&self, context: &Context<'_>, now: Now, keys: &Keys) -> Result<Match, Stop> {
        let Compiled { scheme, signature, uses_secret, .. } = &self.compiled;
        let sent = self.decoded(&context.values(signature)?)?;
        let is_sent = |made: &[u8]| sent.iter().any(|sent| constant_time_eq(made, sent));
        if let Some(algorithm) = self.public_algorithm(context)? {
            if sent.len() > MAX_PUBLIC_SIGNATURES {
                let why = format!("{}: it has too many values", signature.describe());
                return Err(Reason::Malformed(why).into());
            }
            let message = self.signed(context, None)?.concat();
            let verifies = |keys: &[NamedKey]| {
                keys.iter().any(|named| {
                    sent.iter().any(|sent| named.key.verifies(algorithm, &message, sent))
                })
            };
            let secret_index = if scheme.key.encoding == KeyEncoding::Certificate {
                // What is for somebody else is not worth fetching a key for.
                self.check_required(context)?;
                let request = self.compiled.key_request(context, None, None)?;
                verifies(&fetched(request, keys)?).then_some(0)
            } else {
                let mut secrets = self.secrets(now);
                let matching = secrets.find(|(_, secret)| match &secret.key {
                    Key::Public(keys) => verifies(keys),
                    _ => false,
                });
                matching.map(|(index, _)| index)
            };
            // Not the signature: of some algorithms, anybody can make a second one of the first.
            let secret_index = secret_index.ok_or(Reason::NoMatch)?;
            return Ok(Match { secret_index, material: message });
        }
        self.require_secret()?;
        let pieces = if *uses_secret { Vec::new() } else { self.signed(context, None)? };
        for (secret_index, secret) in self.secrets(now) {
            let material = match &secret.key {
                Key::Hmac(key) => {
                    let mut made = hmac::Context::with_key(key);
                    pieces.iter().for_each(|piece| made.update(piece));
                    made.sign().as_ref().to_vec()
                }
                Key::Text(secret) => {
                    let text = self.signed(context, Some(secret.expose().as_bytes()))?.concat();
                    digest(&SHA256, &text).as_ref().to_vec()
                }
                Key::Bytes(_) | Key::Public(_) => continue,
            };
            if is_sent(&material) {
                return Ok(Match { secret_index, material });
            }
        }
        Err(Reason::NoMatch.into())
    }

    fn by_jwt(&self, context: &Context<'_>, now: Now, keys: &Keys) -> Result<Match, Stop> {
        let Compiled { scheme, signature, .. } = &self.compiled;
        let text = context.value(signature)?;
        let detached = scheme.algorithm == Algorithm::JwsDetached;
        let token = Token::read(&text, detached)?;
        let signed = token.signed(context.request.body);
        let secret_index = if scheme.key.encoding == KeyEncoding::Jwks {
            let (index, with) = match scheme.key.post {
                Some(_) => {
                    let (index, secret) = self.secrets(now).next().ok_or(Reason::NoMatch)?;
                    (index, Some(&secret.key))
                }
                None => (0, None),
            };
            let key = Key::Public(fetched(
                self.compiled.key_request(context, token.kid.as_deref(), with)?,
                keys,
            )?);
            if let Key::Public(keys) = &key
                && token.candidates(keys).next().is_none()
            {
                return Err(Reason::UnknownKey.into());
            }
            token.is_signed_by(&key, &signed).then_some(index)
        } else {
            self.require_secret()?;
            let mut secrets = self.secrets(now);
            secrets.find(|(_, secret)| token.is_signed_by(&secret.key, &signed)).map(|(at, _)| at)
        };
        let secret_index = secret_index.ok_or(Reason::NoMatch)?;
        if !detached {
            // Nothing was set before: a context is judged once.
            let _ = context.claims.set(token.claims()?);
        }
        Ok(Match { secret_index, material: signed })
    }

    /// A provider that hands its secret over has not done so yet.
    fn require_secret(&self) -> Result<(), Reason> {
        if self.compiled.secrets.is_empty() { Err(Reason::NoSecret) } else { Ok(()) }
    }

    fn decoded(&self, sent: &[String]) -> Result<Vec<Vec<u8>>, Reason> {
        let Compiled { scheme, signature, .. } = &self.compiled;
        let encoding = scheme.signature.encoding;
        let decoded: Vec<_> = sent.iter().filter_map(|text| encoding.decode(text)).collect();
        match decoded.iter().all(Vec::is_empty) {
            true => Err(Reason::Malformed(format!("signature in {}", signature.describe()))),
            false => Ok(decoded),
        }
    }

    fn public_algorithm(&self, context: &Context<'_>) -> Result<Option<PublicAlgorithm>, Reason> {
        let scheme = &self.compiled.scheme;
        let Some(by) = &scheme.algorithm_by else {
            return Ok(PublicAlgorithm::of(scheme.algorithm));
        };
        let field = Field { source: by.source, name: by.name.clone(), ..Field::default() };
        let algorithm = by.values.get(&context.value(&field)?);
        let algorithm = algorithm.ok_or_else(|| Reason::Malformed(field.describe()))?;
        Ok(PublicAlgorithm::of(*algorithm))
    }

    /// What is signed.
    fn signed<'a>(
        &self,
        context: &Context<'a>,
        secret: Option<&[u8]>,
    ) -> Result<Vec<Cow<'a, [u8]>>, Reason> {
        use crate::template::Reference;
        let Compiled { scheme, timestamp, signed, .. } = &self.compiled;
        let value = |reference, field: Option<&Field>| match field {
            Some(field) if signed.refers_to(&reference) => context.value(field).map(Some),
            _ => Ok(None),
        };
        let id = value(Reference::Id, scheme.id.as_ref())?;
        let timestamp = value(Reference::Timestamp, timestamp.as_ref())?;
        let scope = Scope {
            id: id.as_deref(),
            timestamp: timestamp.as_deref(),
            secret,
            ..Scope::default()
        };
        signed.render(context, &scope)
    }

    fn check_required(&self, context: &Context<'_>) -> Result<(), Reason> {
        for condition in &self.compiled.scheme.require {
            if !holds(condition, context)? {
                return Err(unmet(condition, context));
            }
        }
        Ok(())
    }

    fn check_digest(&self, context: &Context<'_>) -> Result<(), Reason> {
        let Some(of) = &self.compiled.scheme.digest else { return Ok(()) };
        let body = context.request.body;
        if of.unless_form && (body.is_empty() || context.form()?.is_some()) {
            return Ok(());
        }
        let field = Field { source: of.source, name: of.name.clone(), ..Field::default() };
        let sent = context.value(&field)?;
        let made = of.encoding.encode(digest(&SHA256, body).as_ref());
        if same(made.as_bytes(), sent.as_bytes()) { Ok(()) } else { Err(Reason::NoMatch) }
    }

    /// The times that a token sets itself (RFC 7519, sections 4.1.4 and 4.1.5).
    fn check_claimed_times(&self, context: &Context<'_>, now: Now) -> Result<(), Reason> {
        if context.claims.get().is_none() {
            return Ok(());
        }
        let claim = |name| match context.text(Source::Claim, name)? {
            Some(text) => match read_time(text.split('.').next().unwrap_or(""), Unit::Seconds) {
                Some(time) => Ok(Some(time)),
                None => Err(Reason::Malformed(format!("claim {name}"))),
            },
            None => Ok(None),
        };
        let (now, tolerance) = (now.unix_nanos(), self.compiled.tolerance);
        let has_ended = claim("exp")?.is_some_and(|end| now - tolerance >= end);
        let has_not_begun = claim("nbf")?.is_some_and(|start| now + tolerance < start);
        if has_ended || has_not_begun { Err(Reason::Timestamp) } else { Ok(()) }
    }
}

/// Nanoseconds since 1970.
fn read_time(text: &str, unit: Unit) -> Option<i128> {
    let whole = |nanos: i128| {
        let is_number = (1..=16).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        is_number.then(|| text.parse::<i128>().ok().map(|number| number * nanos)).flatten()
    };
    match unit {
        Unit::Seconds => whole(1_000_000_000),
        Unit::Milliseconds => whole(1_000_000),
        Unit::Rfc3339 => text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_nanosecond),
    }
}
