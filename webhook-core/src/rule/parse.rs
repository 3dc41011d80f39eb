//! From JSON to compiled rules, with an error that says where and why.

use std::collections::BTreeSet;

use http::HeaderName;
use ipnet::{IpNet, Ipv4Net};
use memchr::memmem::Finder;
use serde_json::{Map, Value};

use super::{
    MAX_DEPTH, MAX_PATH_SEGMENTS, MAX_REGEXES, MAX_RULES, MAX_SIGNATURES, MAX_SLOW_REGEXES,
    matching::{Match, Test},
    path::{Invalid, Path, shown},
    regex::Regex,
    signature::{ALGORITHMS, Signature},
    tree::{Names, Node, Tree},
    view::Source,
};

const OPERATORS: [&str; 4] = ["and", "or", "not", "match"];
const TYPES: &str = "value, contains, substring, does-not-contain, regex, payload-hmac-sha1, \
                     payload-hmac-sha256, payload-hmac-sha512, ip-whitelist";
const SOURCES: &str = "header, query, url, payload, body, raw-request-body, request, string, \
                       entire-payload, entire-query, entire-headers";

type Object = Map<String, Value>;

/// Compiles the outermost rule.
pub(super) fn parse(json: &Object) -> Result<Tree, Invalid> {
    let mut parser = Parser::default();
    let root = parser.rule(json, 1)?;
    let names = Names {
        payload: parser.payload_paths.into_iter().collect(),
        query: parser.query_keys.into_iter().collect(),
    };
    Ok(Tree { root, rules: parser.rules, names })
}

#[derive(Default)]
struct Parser {
    path: Path,
    rules: usize,
    regexes: usize,
    slow_regexes: usize,
    signatures: usize,
    payload_paths: BTreeSet<Box<str>>,
    query_keys: BTreeSet<Box<str>>,
}

impl Parser {
    fn rule(&mut self, rule: &Object, depth: usize) -> Result<Node, Invalid> {
        if depth > MAX_DEPTH {
            let reason = format_args!("rules are more than {MAX_DEPTH} deep");
            return Err(self.path.invalid(reason));
        }
        self.rules += 1;
        if self.rules > MAX_RULES {
            return Err(self.path.invalid(format_args!("there are more than {MAX_RULES} rules")));
        }

        let given = |key: &&str| rule.get(*key).is_some_and(|value| !value.is_null());
        let mut operators = OPERATORS.into_iter().filter(given);
        let (operator, value) = match (operators.next(), operators.next()) {
            (Some(operator), None) => (operator, rule.get(operator).unwrap_or(&Value::Null)),
            (Some(first), Some(second)) => {
                let reason = format_args!("has both {first:?} and {second:?}; it must have one");
                return Err(self.path.invalid(reason));
            }
            (None, _) => match rule.keys().find(|key| !OPERATORS.contains(&key.as_str())) {
                None => return Ok(Node::All(Vec::new())),
                Some(key) => {
                    let reason = "is no rule; expected \"and\", \"or\", \"not\" or \"match\"";
                    return Err(self.path.invalid_field(&shown(key), reason));
                }
            },
        };

        self.path.enter(operator);
        let node = match (operator, value) {
            ("match", Value::Object(object)) => self.matching(object)?,
            ("not", Value::Object(object)) => Node::None(vec![self.rule(object, depth + 1)?]),
            ("and", Value::Array(list)) => Node::All(self.list(list, depth)?),
            ("or", Value::Array(list)) => Node::Any(self.list(list, depth)?),
            ("not", Value::Array(list)) => Node::None(self.list(list, depth)?),
            ("match", _) => return Err(self.path.invalid("must be an object")),
            ("not", _) => return Err(self.path.invalid("must be a rule or a list of rules")),
            _ => return Err(self.path.invalid("must be a list of rules")),
        };
        self.path.leave();
        Ok(node)
    }

    fn list(&mut self, list: &[Value], depth: usize) -> Result<Vec<Node>, Invalid> {
        let mut nodes = Vec::new();
        for (index, value) in list.iter().enumerate() {
            self.path.enter_index(index);
            let object = value.as_object().ok_or_else(|| self.path.invalid("must be an object"))?;
            nodes.push(self.rule(object, depth + 1)?);
            self.path.leave();
        }
        Ok(nodes)
    }

    fn matching(&mut self, object: &Object) -> Result<Node, Invalid> {
        let kind = self.text(object, "type")?;
        let test = match kind {
            "ip-whitelist" => return self.networks(object).map(Node::SentFrom),
            "value" => Test::Equals(self.text(object, "value")?.as_bytes().into()),
            "contains" | "substring" => Test::Contains(self.finder(object)?),
            "does-not-contain" => Test::Lacks(self.finder(object)?),
            "regex" => Test::Regex(self.regex(object)?),
            kind => match self.signature(kind, object)? {
                Some(signature) => Test::Signature(signature),
                None => {
                    let reason = format!("unknown type {:?}; expected one of {TYPES}", shown(kind));
                    return Err(self.path.invalid_field("type", reason));
                }
            },
        };
        let parameter = match object.get("parameter") {
            None | Some(Value::Null) => {
                return Err(self.path.invalid_field("parameter", "is missing"));
            }
            Some(Value::Object(parameter)) => parameter,
            Some(_) => return Err(self.path.invalid_field("parameter", "must be an object")),
        };
        self.path.enter("parameter");
        let source = self.source(parameter)?;
        let base64 = match parameter.get("base64decode") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(base64)) => *base64,
            Some(_) => return Err(self.path.invalid_field("base64decode", "must be a boolean")),
        };
        if !matches!(parameter.get("envname"), None | Some(Value::Null | Value::String(_))) {
            return Err(self.path.invalid_field("envname", "must be text"));
        }
        self.path.leave();
        Ok(Node::Match(Box::new(Match { source, base64, test })))
    }

    fn source(&mut self, parameter: &Object) -> Result<Source, Invalid> {
        Ok(match self.text(parameter, "source")? {
            "header" => {
                let name = self.text(parameter, "name")?;
                let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
                    let reason = format!("{:?} is not a header name", shown(name));
                    self.path.invalid_field("name", reason)
                })?;
                Source::Header(name)
            }
            "query" | "url" => {
                let key = self.filled(parameter, "name")?;
                self.query_keys.insert(key.into());
                Source::Query(key.into())
            }
            "payload" => {
                let path = self.filled(parameter, "name")?;
                if path.split('.').count() > MAX_PATH_SEGMENTS {
                    let reason = format!("has more than {MAX_PATH_SEGMENTS} segments");
                    return Err(self.path.invalid_field("name", reason));
                }
                self.payload_paths.insert(path.into());
                Source::Payload(path.into())
            }
            "body" | "raw-request-body" => Source::Body,
            "request" => match self.text(parameter, "name")?.to_ascii_lowercase().as_str() {
                "method" => Source::Method,
                "path" => Source::Path,
                "remote-addr" => Source::RemoteAddr,
                name => {
                    let reason = format!(
                        "unknown part {:?} of the request; expected method, path or remote-addr",
                        shown(name)
                    );
                    return Err(self.path.invalid_field("name", reason));
                }
            },
            "string" => Source::Text(self.text(parameter, "name")?.into()),
            "entire-payload" => Source::EntirePayload,
            "entire-query" => Source::EntireQuery,
            "entire-headers" => Source::EntireHeaders,
            source => {
                let reason =
                    format!("unknown source {:?}; expected one of {SOURCES}", shown(source));
                return Err(self.path.invalid_field("source", reason));
            }
        })
    }

    fn finder(&self, object: &Object) -> Result<Finder<'static>, Invalid> {
        Ok(Finder::new(self.text(object, "substring")?).into_owned())
    }

    fn regex(&mut self, object: &Object) -> Result<Regex, Invalid> {
        let pattern = self.text(object, "regex")?;
        let invalid = |reason: &str| self.path.invalid_field("regex", reason);
        self.regexes += 1;
        if self.regexes > MAX_REGEXES {
            return Err(invalid(&format!("there are more than {MAX_REGEXES} regexes")));
        }
        let regex = Regex::new(pattern).map_err(|reason| invalid(&reason))?;
        self.slow_regexes += usize::from(regex.is_slow());
        if self.slow_regexes > MAX_SLOW_REGEXES {
            let reason = format!("there are more than {MAX_SLOW_REGEXES} regexes this complex");
            return Err(invalid(&reason));
        }
        Ok(regex)
    }

    /// None when `kind` is not a type of signature.
    fn signature(&mut self, kind: &str, object: &Object) -> Result<Option<Signature>, Invalid> {
        let algorithm = kind.strip_prefix("payload-hmac-").or(kind.strip_prefix("payload-hash-"));
        let known = ALGORITHMS.into_iter().find(|(name, ..)| Some(*name) == algorithm);
        let Some((_, algorithm, prefix)) = known else { return Ok(None) };
        self.signatures += 1;
        if self.signatures > MAX_SIGNATURES {
            let reason = format!("there are more than {MAX_SIGNATURES} matches of the HMAC types");
            return Err(self.path.invalid_field("type", reason));
        }
        let secret = self.filled(object, "secret")?;
        Ok(Some(Signature::new(algorithm, prefix, secret)))
    }

    fn networks(&self, object: &Object) -> Result<Vec<IpNet>, Invalid> {
        let ranges = self.filled(object, "ip-range")?;
        ranges
            .split_ascii_whitespace()
            .map(|text| {
                network(text).ok_or_else(|| {
                    let reason = format!(
                        "{:?} is not an address or a network such as 192.0.2.0/24",
                        shown(text)
                    );
                    self.path.invalid_field("ip-range", reason)
                })
            })
            .collect()
    }

    /// The text in the field `key`, which must not be blank.
    fn filled<'j>(&self, object: &'j Object, key: &str) -> Result<&'j str, Invalid> {
        match self.text(object, key)? {
            text if text.trim_ascii().is_empty() => {
                Err(self.path.invalid_field(key, "must not be empty"))
            }
            text => Ok(text),
        }
    }

    fn text<'j>(&self, object: &'j Object, key: &str) -> Result<&'j str, Invalid> {
        match object.get(key) {
            Some(Value::String(text)) => Ok(text),
            None | Some(Value::Null) => Err(self.path.invalid_field(key, "is missing")),
            Some(_) => Err(self.path.invalid_field(key, "must be text")),
        }
    }
}

/// A CIDR network, or an address as the network of one host; the IPv6 form of
/// an IPv4 network is that network.
fn network(text: &str) -> Option<IpNet> {
    let network = match text.parse::<IpNet>() {
        Ok(network) => network,
        Err(_) => IpNet::from(text.parse::<std::net::IpAddr>().ok()?),
    };
    if let IpNet::V6(v6) = network
        && let Some(address) = v6.addr().to_ipv4_mapped()
        && let Some(length) = v6.prefix_len().checked_sub(96)
    {
        return Ipv4Net::new(address, length).ok().map(IpNet::V4);
    }
    Some(network)
}
