//! From JSON to compiled rules, with an error that says where and why.

use std::collections::BTreeSet;

use http::HeaderName;
use ipnet::{IpNet, Ipv4Net};
use memchr::memmem::Finder;
use serde_json::{Map, Value};

use super::{
    MAX_DEPTH, MAX_PATH_SEGMENTS, MAX_REGEXES, MAX_RULES, MAX_SIGNATURES, MAX_SLOW_REGEXES,
    matching::{Match, Test},
    number::Decimal,
    path::{Invalid, Path, shown},
    payload::elements,
    regex::Regex,
    signature::{Digest, Signature},
    tree::{Names, Node, Tree},
    view::Source,
    vocabulary::{
        self, Kind, MATCH_TYPES, MatchType, NamedPart, OPERATORS, Of, Operand, Operator, Origin,
        ParameterSource, Part, SOURCES,
    },
};

type Object = Map<String, Value>;

/// Compiles the outermost rule of rules about `of`.
pub(super) fn parse(json: &Object, of: Of) -> Result<Tree, Invalid> {
    let mut parser = Parser::new(of);
    let root = parser.rule(json, 1)?;
    let names = Names {
        payload: parser.payload_paths.into_iter().collect(),
        query: parser.query_keys.into_iter().collect(),
    };
    Ok(Tree { root, rules: parser.rules, names, reads_payload: parser.reads_payload })
}

#[derive(Default)]
struct Parser {
    of: Of,
    path: Path,
    rules: usize,
    regexes: usize,
    slow_regexes: usize,
    signatures: usize,
    payload_paths: BTreeSet<Box<str>>,
    reads_payload: bool,
    query_keys: BTreeSet<Box<str>>,
}

impl Parser {
    fn new(of: Of) -> Self {
        Self { of, path: Path::new(of.field()), ..Self::default() }
    }

    fn rule(&mut self, rule: &Object, depth: usize) -> Result<Node, Invalid> {
        if depth > MAX_DEPTH {
            let reason = format_args!("rules are more than {MAX_DEPTH} deep");
            return Err(self.path.invalid(reason));
        }
        self.rules += 1;
        if self.rules > MAX_RULES {
            return Err(self.path.invalid(format_args!("there are more than {MAX_RULES} rules")));
        }

        let given = |(word, operator)| {
            let value = rule.get(word).filter(|value| !value.is_null());
            value.map(|value| (word, operator, value))
        };
        let mut operators = OPERATORS.into_iter().filter_map(given);
        let (word, operator, value) = match (operators.next(), operators.next()) {
            (Some(operator), None) => operator,
            (Some((first, ..)), Some((second, ..))) => {
                let reason = format_args!("has both {first:?} and {second:?}; it must have one");
                return Err(self.path.invalid(reason));
            }
            (None, _) => {
                match rule.keys().find(|key| !OPERATORS.iter().any(|(word, _)| word == key)) {
                    None => return Ok(Node::All(Vec::new())),
                    Some(key) => {
                        let reason = "is no rule; expected \"and\", \"or\", \"not\" or \"match\"";
                        return Err(self.path.invalid_field(&shown(key), reason));
                    }
                }
            }
        };

        self.path.enter(word);
        let node = match (operator, value) {
            (Operator::Match, Value::Object(object)) => self.matching(object)?,
            (Operator::Not, Value::Object(rule)) => Node::None(vec![self.rule(rule, depth + 1)?]),
            (Operator::And, Value::Array(list)) => Node::All(self.list(list, depth)?),
            (Operator::Or, Value::Array(list)) => Node::Any(self.list(list, depth)?),
            (Operator::Not, Value::Array(list)) => Node::None(self.list(list, depth)?),
            (Operator::Match, _) => return Err(self.path.invalid("must be an object")),
            (Operator::Not, _) => {
                return Err(self.path.invalid("must be a rule or a list of rules"));
            }
            (Operator::And | Operator::Or, _) => {
                return Err(self.path.invalid("must be a list of rules"));
            }
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
        let word = self.text(object, "type")?;
        let found = MatchType::of(word).ok_or_else(|| {
            let known = vocabulary::list(MATCH_TYPES.iter().flat_map(MatchType::words));
            let word = shown(word);
            let reason = format_args!("unknown type {word:?}; expected one of {known}");
            self.path.invalid_field("type", reason)
        })?;
        if self.of == Of::Answer && found.operand == Operand::Networks {
            let reason =
                format_args!("{word:?} is about the sender of a webhook, not about an answer");
            return Err(self.path.invalid_field("type", reason));
        }
        let operand = || match found.operand.field() {
            Some(field) => self.text(object, field).map(|text| text.as_bytes().into()),
            None => Ok(Box::default()),
        };
        let test = match found.kind {
            Kind::IpWhitelist => return self.networks(object).map(Node::SentFrom),
            Kind::Value => Test::Equals(operand()?),
            Kind::IsNot => Test::Differs(operand()?),
            Kind::Contains => Test::Contains(Finder::new(&*operand()?).into_owned()),
            Kind::DoesNotContain => Test::Lacks(Finder::new(&*operand()?).into_owned()),
            Kind::StartsWith => Test::StartsWith(operand()?),
            Kind::EndsWith => Test::EndsWith(operand()?),
            Kind::Exists => Test::Exists,
            Kind::Compares(comparison) => Test::Compares(comparison, self.number(object)?),
            Kind::Regex => Test::Regex(self.regex(object)?),
            Kind::Hmac(digest) => Test::Signature(self.signature(digest, object)?),
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
        let word = self.text(parameter, "source")?;
        let source = ParameterSource::of(word).filter(|it| it.is_of(self.of)).ok_or_else(|| {
            let sources = SOURCES.iter().filter(|it| it.is_of(self.of));
            let known = vocabulary::list(sources.flat_map(ParameterSource::words));
            let word = shown(word);
            let reason = format_args!("unknown source {word:?}; expected one of {known}");
            self.path.invalid_field("source", reason)
        })?;
        Ok(match source.origin {
            Origin::Header => {
                let name = self.text(parameter, "name")?;
                let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
                    let reason = format!("{:?} is not a header name", shown(name));
                    self.path.invalid_field("name", reason)
                })?;
                Source::Header(name)
            }
            Origin::Query => {
                let key = self.filled(parameter, "name")?;
                self.query_keys.insert(key.into());
                Source::Query(key.into())
            }
            Origin::Payload => {
                let path = self.filled(parameter, "name")?;
                if path.split('.').count() > MAX_PATH_SEGMENTS {
                    let reason = format!("has more than {MAX_PATH_SEGMENTS} segments");
                    return Err(self.path.invalid_field("name", reason));
                }
                self.reads_payload = true;
                if elements::has_any(path) {
                    return Ok(Source::Elements(path.into()));
                }
                self.payload_paths.insert(path.into());
                Source::Payload(path.into())
            }
            Origin::Body => Source::Body,
            Origin::Parts(parts) => self.part(parameter, word, parts)?,
            Origin::Text => Source::Text(self.text(parameter, "name")?.into()),
            Origin::EntirePayload => {
                self.reads_payload = true;
                Source::EntirePayload
            }
            Origin::EntireQuery => Source::EntireQuery,
            Origin::EntireHeaders => Source::EntireHeaders,
            Origin::Status => Source::Part(Part::Status),
        })
    }

    fn part(
        &self,
        parameter: &Object,
        source: &str,
        parts: &[NamedPart],
    ) -> Result<Source, Invalid> {
        let name = self.text(parameter, "name")?;
        match parts.iter().find(|it| it.word.eq_ignore_ascii_case(name)) {
            Some(found) => Ok(Source::Part(found.part)),
            None => {
                let (name, known) = (shown(name), vocabulary::list(parts.iter().map(|it| it.word)));
                let reason =
                    format!("unknown part {name:?} of the {source}; expected one of {known}");
                Err(self.path.invalid_field("name", reason))
            }
        }
    }

    /// A number, as JSON or as a text that is one.
    fn number(&self, object: &Object) -> Result<Decimal, Invalid> {
        let field = "value";
        let text = match object.get(field) {
            Some(Value::Number(number)) => number.to_string(),
            _ => self.text(object, field)?.to_owned(),
        };
        Decimal::parse(text.as_bytes()).ok_or_else(|| {
            let reason = format!("{:?} is not a number such as 100 or 12.50", shown(&text));
            self.path.invalid_field(field, reason)
        })
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

    fn signature(&mut self, digest: Digest, object: &Object) -> Result<Signature, Invalid> {
        self.signatures += 1;
        if self.signatures > MAX_SIGNATURES {
            let reason = format!("there are more than {MAX_SIGNATURES} matches of the HMAC types");
            return Err(self.path.invalid_field("type", reason));
        }
        let secret = self.filled(object, "secret")?;
        Ok(Signature::new(digest, secret))
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
