//! What a scheme must be, so that what it verifies is proven.

use http::HeaderName;

use crate::{
    Algorithm, Condition, Field, Handshake, HandshakeAction, Invalid, KeyEncoding, Scheme, Source,
    challenge::CompiledHandshake,
    key,
    template::{Reference, Template},
};

const MAX_CONDITIONS: usize = 16;
const MAX_NAME_BYTES: usize = 256;

/// Reads a template.
pub(crate) fn template(text: &str, field: &str) -> Result<Template, Invalid> {
    Template::parse(text).map_err(|reason| Invalid::new(field, reason))
}

pub(crate) fn check_name(source: Source, name: &str, field: &str) -> Result<(), Invalid> {
    let wrong = |reason: &str| Err(Invalid::new(field, reason));
    match source {
        _ if name.len() > MAX_NAME_BYTES => wrong("is longer than 256 bytes"),
        Source::Method if name.is_empty() => Ok(()),
        Source::Method => wrong("must be empty: there is one method"),
        _ if name.is_empty() => wrong("is missing"),
        Source::Header if HeaderName::try_from(name).is_err() => wrong("is not a header's name"),
        _ => Ok(()),
    }
}

fn check_field(field: &Field, path: &str) -> Result<(), Invalid> {
    let name = format!("{path}.name");
    match (field.source, field.name.strip_suffix('*')) {
        (Source::Header, Some(stem)) => check_name(Source::Header, stem, &name),
        _ => check_name(field.source, &field.name, &name),
    }
}

/// Checks a scheme, and reads what it signs.
pub(crate) fn check_scheme(scheme: &Scheme) -> Result<Template, Invalid> {
    let invalid = |field: &str, reason: &str| Err(Invalid::new(format!("scheme.{field}"), reason));
    check_field(&Field::from(&scheme.signature), "scheme.signature")?;
    if matches!(scheme.signature.source, Source::Claim | Source::Method) {
        return invalid("signature.source", "must be header, query or payload");
    }
    let signed = template(&scheme.signed, "scheme.signed")?;
    let is_jose = matches!(scheme.algorithm, Algorithm::Jwt | Algorithm::JwsDetached);
    let has_template = !is_jose && !matches!(scheme.algorithm, Algorithm::Token | Algorithm::Basic);
    if has_template {
        check_signed(scheme, &signed)?;
    } else if !scheme.signed.is_empty() {
        return invalid("signed", "must be empty: this algorithm signs no text");
    }
    if let Some(timestamp) = &scheme.timestamp {
        let field = Field::from(timestamp);
        check_field(&field, "scheme.timestamp")?;
        let of = Reference::Of(field.source, field.name.clone());
        let is_signed = match field.source {
            Source::Claim => scheme.algorithm == Algorithm::Jwt,
            Source::Payload if scheme.algorithm == Algorithm::JwsDetached => true,
            Source::Payload => {
                [Reference::Timestamp, Reference::Body, of].iter().any(|one| signed.refers_to(one))
            }
            _ => [Reference::Timestamp, of].iter().any(|one| signed.refers_to(one)),
        };
        if !is_signed {
            return invalid("timestamp", "is not part of what is signed: anybody can change it");
        }
    } else if signed.refers_to(&Reference::Timestamp) {
        return invalid("timestamp", "is missing, and signed");
    }
    match &scheme.id {
        Some(id) => check_field(id, "scheme.id")?,
        None if signed.refers_to(&Reference::Id) => return invalid("id", "is missing, and signed"),
        None => {}
    }
    if let Some(event) = &scheme.event {
        check_field(event, "scheme.event")?;
    }
    if let Some(digest) = &scheme.digest {
        check_name(digest.source, &digest.name, "scheme.digest.name")?;
        if digest.source == Source::Claim && scheme.algorithm != Algorithm::Jwt {
            return invalid("digest.source", "is claim, and the algorithm is not jwt");
        }
    }
    if let Some(by) = &scheme.algorithm_by {
        check_name(by.source, &by.name, "scheme.algorithm_by.name")?;
        if by.values.is_empty() {
            return invalid("algorithm_by.values", "is empty");
        }
        let kind = |algorithm: Algorithm| {
            (algorithm.hmac().is_some(), key::PublicAlgorithm::of(algorithm).is_some())
        };
        let alike = by.values.values().all(|&other| kind(other) == kind(scheme.algorithm));
        // A key for an HMAC is made for one algorithm.
        if !alike || kind(scheme.algorithm) != (false, true) {
            return invalid("algorithm_by.values", "must all be algorithms of public keys");
        }
    }
    check_key(scheme)?;
    check_conditions(&scheme.require, "scheme.require")?;
    if scheme.challenges.len() > MAX_CONDITIONS {
        return invalid("challenges", "has more than 16");
    }
    Ok(signed)
}

fn check_signed(scheme: &Scheme, signed: &Template) -> Result<(), Invalid> {
    let invalid = |reason: &str| Err(Invalid::new("scheme.signed", reason));
    let uses_secret = signed.refers_to(&Reference::Secret);
    if scheme.digest.as_ref().is_some_and(|digest| digest.unless_form)
        && !signed.refers_to(&Reference::Form)
    {
        let reason = "must be false: no {form} is signed";
        return Err(Invalid::new("scheme.digest.unless_form", reason));
    }
    let digested = scheme.digest.as_ref().is_some_and(|digest| {
        // A digest that is not signed itself binds nothing.
        let of = Reference::Of(digest.source, digest.name.clone());
        signed.refers_to(&of) || digest.source == Source::Query && signed.refers_to(&Reference::Url)
    });
    if signed.refers_to(&Reference::Token) || signed.refers_to(&Reference::Kid) {
        return invalid("refers to {token} or {kid}, which are not part of a signature");
    }
    if signed.has_hmac() {
        return invalid("has an {hmac(…)} in it, which is for answers");
    }
    if !signed.binds_content() && !digested {
        return invalid(
            "signs nothing of the content: {body}, {form}, a {payload.…} or a signed digest is needed",
        );
    }
    match (scheme.algorithm == Algorithm::Sha256, uses_secret) {
        (true, false) => invalid("has no {secret}: anybody can make this hash"),
        (false, true) => invalid("has a {secret}, which is for the algorithm sha256"),
        _ => Ok(()),
    }
}

fn check_key(scheme: &Scheme) -> Result<(), Invalid> {
    let invalid =
        |field: &str, reason: &str| Err(Invalid::new(format!("scheme.key.{field}"), reason));
    let key = &scheme.key;
    let is_public = key::PublicAlgorithm::of(scheme.algorithm).is_some();
    let is_jose = matches!(scheme.algorithm, Algorithm::Jwt | Algorithm::JwsDetached);
    let fits = match key.encoding {
        KeyEncoding::Certificate => is_public,
        KeyEncoding::Jwks | KeyEncoding::Auto => is_jose,
        KeyEncoding::Pem => is_public || is_jose,
        KeyEncoding::Utf8 => !is_public,
        KeyEncoding::Base64 | KeyEncoding::Hex | KeyEncoding::Whsec => {
            !matches!(scheme.algorithm, Algorithm::Token | Algorithm::Basic | Algorithm::Sha256)
        }
    };
    if !fits {
        return invalid("encoding", "does not fit the algorithm");
    }
    let is_fetched = matches!(key.encoding, KeyEncoding::Certificate | KeyEncoding::Jwks);
    if !is_fetched {
        // A handshake may fetch from the hosts, too.
        return match key.url.is_empty() && key.post.is_none() {
            true => Ok(()),
            false => invalid("url", "is for the encodings certificate and jwks"),
        };
    }
    let url = template(&key.url, "scheme.key.url")?;
    for reference in url.references() {
        match reference {
            Reference::Of(..) | Reference::Parameter(_) | Reference::Kid => {}
            _ => return invalid("url", "may refer to fields, parameters and {kid} only"),
        }
    }
    let pinned =
        key.url.strip_prefix("https://").and_then(|rest| rest.split(['/', '?', '#']).next());
    let pinned = pinned.is_some_and(|host| !host.is_empty() && !host.contains(['{', '[', '@']));
    if key.hosts.is_empty() && !pinned {
        return invalid("hosts", "is missing, and the url does not begin with https and a host");
    }
    let is_pattern = |host: &String| {
        let ok =
            |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'*');
        // A pattern whose end is open pins nothing.
        let mut last = host.rsplit('.').take(2);
        let closed = last.clone().count() == 2
            && last.all(|label| !label.is_empty() && !label.contains('*'));
        host.bytes().all(ok) && closed
    };
    match key.hosts.iter().position(|host| !is_pattern(host)) {
        Some(_) => {
            invalid("hosts", "has one that is not a host, or whose last two labels have a *")
        }
        None if key.hosts.len() > MAX_CONDITIONS => invalid("hosts", "has more than 16"),
        None => Ok(()),
    }
}

fn check_conditions(conditions: &[Condition], field: &str) -> Result<(), Invalid> {
    if conditions.len() > MAX_CONDITIONS {
        return Err(Invalid::new(field, "has more than 16"));
    }
    for (index, condition) in conditions.iter().enumerate() {
        let field = format!("{field}[{index}]");
        check_name(condition.source, &condition.name, &format!("{field}.name"))?;
        let said = [condition.equals.is_some(), condition.parameter.is_some(), condition.absent];
        if said.iter().filter(|&&said| said).count() > 1 {
            return Err(Invalid::new(field, "has more than one of equals, parameter and absent"));
        }
    }
    Ok(())
}

pub(crate) fn check_handshake(
    handshake: &Handshake,
    scheme: &Scheme,
    signed: &Template,
    field: &str,
) -> Result<CompiledHandshake, Invalid> {
    let invalid = |part: &str, reason: &str| Err(Invalid::new(format!("{field}.{part}"), reason));
    check_conditions(&handshake.when, &format!("{field}.when"))?;
    if handshake.when.is_empty() {
        return invalid("when", "is empty: every webhook would be a handshake");
    }
    if let Some(token) = &handshake.token {
        check_field(token, &format!("{field}.token"))?;
    }
    let status = handshake.answer.status;
    if status != 0 && !(200..500).contains(&status) {
        return invalid("answer.status", "is not between 200 and 499");
    }
    let compiled = CompiledHandshake::new(handshake)
        .map_err(|(part, reason)| Invalid::new(format!("{field}.{part}"), reason))?;
    if !compiled.has_what_answers_may_have() {
        return invalid("answer", "refers to more than {token}, {endpoint} and parameters");
    }
    if handshake.token.is_none() && (compiled.refers_to_token() || handshake.action.is_some()) {
        return invalid("token", "is missing");
    }
    if compiled.has_hmac() && scheme.algorithm.hmac().is_none() {
        return invalid("answer", "has an {hmac(…)}, and the scheme has no HMAC");
    }
    if compiled.has_hmac() && !handshake.signed && !signed.refers_to(&Reference::Body) {
        return invalid(
            "signed",
            "must be true: without {body} in what is signed, the answer could be a signature",
        );
    }
    if handshake.action == Some(HandshakeAction::Fetch) && scheme.key.hosts.is_empty() {
        return invalid("action", "fetches, and scheme.key.hosts does not say from where");
    }
    Ok(compiled)
}
