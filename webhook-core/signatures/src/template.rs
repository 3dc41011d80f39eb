//! Templates: texts with references to parts of a request.

use std::borrow::Cow;

use ring::{
    digest::{SHA256, digest},
    hmac,
};

use crate::{
    Encoding, Reason, Source,
    bytes::crc32,
    context::{Context, describe},
};

/// A template is at most this long.
const MAX_BYTES: usize = 4096;

/// A template, read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Template(Vec<Node>);

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Text(String),
    Call(Call),
    /// Left out as a whole where something in it is missing.
    Optional(Vec<Node>),
}

#[derive(Clone, Debug, PartialEq)]
struct Call {
    function: Option<Function>,
    of: Vec<Reference>,
    encoding: Encoding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Crc32,
    Sha256,
    Hmac,
}

/// What stands in braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    Id,
    Timestamp,
    Method,
    Url,
    DecodedUrl,
    Endpoint,
    Path,
    Query,
    Body,
    Form,
    Secret,
    Token,
    Kid,
    Parameter(String),
    Of(Source, String),
}

/// What the references that are not in the request stand for.
#[derive(Clone, Copy, Default)]
pub(crate) struct Scope<'a> {
    pub(crate) id: Option<&'a str>,
    pub(crate) timestamp: Option<&'a str>,
    pub(crate) secret: Option<&'a [u8]>,
    pub(crate) token: Option<&'a str>,
    pub(crate) kid: Option<&'a str>,
    /// What an HMAC is made with.
    pub(crate) hmac: Option<&'a hmac::Key>,
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MAX_BYTES {
            return Err(format!("is longer than {MAX_BYTES} bytes"));
        }
        let mut rest = text;
        let nodes = nodes(&mut rest, false)?;
        Ok(Self(nodes))
    }

    /// All that the template refers to.
    pub(crate) fn references(&self) -> Vec<&Reference> {
        fn collect<'t>(nodes: &'t [Node], into: &mut Vec<&'t Reference>) {
            for node in nodes {
                match node {
                    Node::Text(_) => {}
                    Node::Call(call) => into.extend(&call.of),
                    Node::Optional(inner) => collect(inner, into),
                }
            }
        }
        let mut references = Vec::new();
        collect(&self.0, &mut references);
        references
    }

    pub(crate) fn refers_to(&self, reference: &Reference) -> bool {
        self.references().contains(&reference)
    }

    /// Whether an HMAC is in it.
    pub(crate) fn has_hmac(&self) -> bool {
        let is_hmac =
            |node: &Node| matches!(node, Node::Call(call) if call.function == Some(Function::Hmac));
        self.0.iter().any(|node| match node {
            Node::Optional(inner) => inner.iter().any(is_hmac),
            node => is_hmac(node),
        })
    }

    /// Whether the request's content is in it, or fields of it that somebody chose. What may
    /// be left out does not count.
    pub(crate) fn binds_content(&self) -> bool {
        let calls = self.0.iter().filter_map(|node| match node {
            Node::Call(call) => Some(&call.of),
            Node::Text(_) | Node::Optional(_) => None,
        });
        calls.flatten().any(|reference| {
            matches!(
                reference,
                Reference::Body | Reference::Form | Reference::Of(Source::Payload, _)
            )
        })
    }

    /// The pieces of the text.
    pub(crate) fn render<'a>(
        &self,
        context: &Context<'a>,
        scope: &Scope<'_>,
    ) -> Result<Vec<Cow<'a, [u8]>>, Reason> {
        let mut pieces = Vec::with_capacity(self.0.len());
        render(&self.0, context, scope, &mut pieces)?;
        Ok(pieces)
    }

    /// The text, which is not text where the body is not.
    pub(crate) fn to_bytes(
        &self,
        context: &Context<'_>,
        scope: &Scope<'_>,
    ) -> Result<Vec<u8>, Reason> {
        Ok(self.render(context, scope)?.concat())
    }
}

fn render<'a>(
    nodes: &[Node],
    context: &Context<'a>,
    scope: &Scope<'_>,
    pieces: &mut Vec<Cow<'a, [u8]>>,
) -> Result<(), Reason> {
    for node in nodes {
        match node {
            Node::Text(text) => pieces.push(Cow::Owned(text.clone().into_bytes())),
            Node::Call(call) => pieces.push(call.evaluate(context, scope)?),
            Node::Optional(inner) => {
                let before = pieces.len();
                match render(inner, context, scope, pieces) {
                    Err(Reason::Missing(_)) => pieces.truncate(before),
                    other => other?,
                }
            }
        }
    }
    Ok(())
}

impl Call {
    fn evaluate<'a>(
        &self,
        context: &Context<'a>,
        scope: &Scope<'_>,
    ) -> Result<Cow<'a, [u8]>, Reason> {
        let Some(function) = self.function else {
            return match self.of.as_slice() {
                [only] => only.evaluate(context, scope),
                _ => Ok(Cow::Borrowed(&[])),
            };
        };
        let pieces: Result<Vec<_>, _> =
            self.of.iter().map(|reference| reference.evaluate(context, scope)).collect();
        let bytes = match pieces?.as_slice() {
            [Cow::Borrowed(only)] => Cow::Borrowed(*only),
            pieces => Cow::Owned(pieces.concat()),
        };
        let text = match function {
            Function::Crc32 => crc32(&bytes).to_string(),
            Function::Sha256 => self.encoding.encode(digest(&SHA256, &bytes).as_ref()),
            Function::Hmac => match scope.hmac {
                Some(key) => self.encoding.encode(hmac::sign(key, &bytes).as_ref()),
                None => return Err(Reason::NoSecret),
            },
        };
        Ok(Cow::Owned(text.into_bytes()))
    }
}

impl Reference {
    fn evaluate<'a>(
        &self,
        context: &Context<'a>,
        scope: &Scope<'_>,
    ) -> Result<Cow<'a, [u8]>, Reason> {
        let owned = |text: &str| Cow::Owned(text.as_bytes().to_vec());
        let given = |value: Option<&str>, what: &str| {
            value.map(owned).ok_or_else(|| Reason::Missing(what.to_owned()))
        };
        let after_host = || {
            let url = context.url.split_once("://").map_or(&*context.url, |(_, rest)| rest);
            url.find(['/', '?']).map_or("/", |start| &url[start..]).to_owned()
        };
        match self {
            Self::Id => given(scope.id, "id"),
            Self::Timestamp => given(scope.timestamp, "timestamp"),
            Self::Token => given(scope.token, "token"),
            Self::Kid => given(scope.kid, "kid"),
            Self::Secret => match scope.secret {
                Some(secret) => Ok(Cow::Owned(secret.to_vec())),
                None => Err(Reason::NoSecret),
            },
            Self::Method => Ok(Cow::Borrowed(context.request.method.as_bytes())),
            Self::Url => Ok(owned(&context.url)),
            Self::Endpoint => Ok(owned(context.url.split('?').next().unwrap_or_default())),
            Self::DecodedUrl => Ok(Cow::Owned(decode_url(&context.url).into_bytes())),
            Self::Path => Ok(owned(after_host().split('?').next().unwrap_or_default())),
            Self::Query => Ok(Cow::Borrowed(context.request.raw_query.as_bytes())),
            Self::Body => Ok(Cow::Borrowed(context.request.body)),
            Self::Form => {
                let mut parameters = context.form()?.unwrap_or_default();
                parameters.sort();
                parameters.dedup();
                let text: String =
                    parameters.into_iter().flat_map(|(name, value)| [name, value]).collect();
                Ok(Cow::Owned(text.into_bytes()))
            }
            Self::Parameter(name) => {
                let value = context.parameters.get(name);
                given(value.map(crate::Secret::expose), &format!("parameter {name}"))
            }
            Self::Of(source, name) => {
                let text = context.text(*source, name)?;
                given(text.as_deref(), &describe(*source, name))
            }
        }
    }
}

/// A URL with the characters decoded that HubSpot decodes before it signs.
fn decode_url(url: &str) -> String {
    const DECODED: [(&str, char); 12] = [
        ("%3A", ':'),
        ("%2F", '/'),
        ("%3F", '?'),
        ("%40", '@'),
        ("%21", '!'),
        ("%24", '$'),
        ("%27", '\''),
        ("%28", '('),
        ("%29", ')'),
        ("%2A", '*'),
        ("%2C", ','),
        ("%3B", ';'),
    ];
    let mut decoded = String::with_capacity(url.len());
    let mut rest = url;
    while let Some(start) = rest.find('%') {
        decoded.push_str(&rest[..start]);
        let code = rest.get(start..start + 3);
        let found =
            DECODED.iter().find(|(from, _)| code.is_some_and(|c| c.eq_ignore_ascii_case(from)));
        match found {
            Some((_, to)) => decoded.push(*to),
            None => decoded.push('%'),
        }
        rest = &rest[start + if found.is_some() { 3 } else { 1 }..];
    }
    decoded + rest
}

/// Reads nodes until the end, or the bracket that closes this part.
fn nodes(rest: &mut &str, inside: bool) -> Result<Vec<Node>, String> {
    let mut nodes = Vec::new();
    let mut text = String::new();
    let flush = |text: &mut String, nodes: &mut Vec<Node>| {
        if !text.is_empty() {
            nodes.push(Node::Text(std::mem::take(text)));
        }
    };
    while let Some(c) = rest.chars().next() {
        *rest = &rest[c.len_utf8()..];
        if matches!(c, '{' | '}' | '[' | ']') && rest.starts_with(c) {
            text.push(c);
            *rest = &rest[1..];
            continue;
        }
        match c {
            '{' => {
                flush(&mut text, &mut nodes);
                let (inner, after) = rest.split_once('}').ok_or("has a { without its }")?;
                nodes.push(Node::Call(call(inner)?));
                *rest = after;
            }
            '[' if inside => return Err("has a part in brackets inside of another".to_owned()),
            '[' => {
                flush(&mut text, &mut nodes);
                nodes.push(Node::Optional(self::nodes(rest, true)?));
            }
            ']' if inside => {
                flush(&mut text, &mut nodes);
                return Ok(nodes);
            }
            '}' | ']' => return Err(format!("has a {c} that closes nothing")),
            c => text.push(c),
        }
    }
    if inside {
        return Err("has a [ without its ]".to_owned());
    }
    flush(&mut text, &mut nodes);
    Ok(nodes)
}

fn call(text: &str) -> Result<Call, String> {
    let unknown = || format!("refers to {{{text}}}, which is nothing");
    let Some((function, rest)) = text.split_once('(') else {
        return Ok(Call {
            function: None,
            of: vec![reference(text).ok_or_else(unknown)?],
            encoding: Encoding::default(),
        });
    };
    let (of, encoding) = rest.split_once(')').ok_or_else(unknown)?;
    let function = match function {
        "crc32" => Function::Crc32,
        "sha256" => Function::Sha256,
        "hmac" => Function::Hmac,
        _ => return Err(unknown()),
    };
    let encoding = match encoding {
        "" | ":hex" => Encoding::Hex,
        ":hex-upper" => Encoding::HexUpper,
        ":base64" => Encoding::Base64,
        ":base64url" => Encoding::Base64url,
        _ => return Err(unknown()),
    };
    let of: Option<Vec<_>> = of.split(',').map(|one| reference(one.trim())).collect();
    Ok(Call { function: Some(function), of: of.ok_or_else(unknown)?, encoding })
}

fn reference(text: &str) -> Option<Reference> {
    Some(match text {
        "id" => Reference::Id,
        "timestamp" => Reference::Timestamp,
        "method" => Reference::Method,
        "url" => Reference::Url,
        "decoded_url" => Reference::DecodedUrl,
        "endpoint" => Reference::Endpoint,
        "path" => Reference::Path,
        "query" => Reference::Query,
        "body" => Reference::Body,
        "form" => Reference::Form,
        "secret" => Reference::Secret,
        "token" => Reference::Token,
        "kid" => Reference::Kid,
        _ => {
            let (source, name) = text.split_once('.').filter(|(_, name)| !name.is_empty())?;
            match source {
                "header" if http::HeaderName::try_from(name).is_ok() => {
                    Reference::Of(Source::Header, name.to_owned())
                }
                "query" => Reference::Of(Source::Query, name.to_owned()),
                "payload" => Reference::Of(Source::Payload, name.to_owned()),
                "parameter" => Reference::Parameter(name.to_owned()),
                _ => return None,
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_template_is_said() {
        for (template, said) in [
            ("{body", "has a { without its }"),
            ("body}", "has a } that closes nothing"),
            ("[{body}", "has a [ without its ]"),
            ("[{id}[{body}]]", "inside of another"),
            ("{nothing}", "refers to {nothing}, which is nothing"),
            ("{md5(body)}", "which is nothing"),
            ("{sha256(body):rot13}", "which is nothing"),
            ("{header.a b}", "which is nothing"),
            ("{payload.}", "which is nothing"),
        ] {
            let error = Template::parse(template).expect_err(template);
            assert!(error.contains(said), "{template}: {error}");
        }
        assert!(Template::parse(&"x".repeat(MAX_BYTES + 1)).is_err());
        let template = Template::parse("{{[[{id}]]}}").expect("is a template");
        assert_eq!(template.0.len(), 3);
    }

    #[test]
    fn only_some_characters_of_a_url_are_decoded() {
        assert_eq!(decode_url("https://a/%3a%2F?q=%20%26%7e%é%"), "https://a/:/?q=%20%26%7e%é%");
    }
}
