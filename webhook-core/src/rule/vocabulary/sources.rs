//! Where the parameter of a match comes from.

/// A part of a webhook that matches can look at: one word that the field `source` of a
/// parameter may have.
#[derive(Debug)]
#[non_exhaustive]
pub struct ParameterSource {
    /// The word itself.
    pub word: &'static str,
    /// Other words that mean the same.
    pub aliases: &'static [&'static str],
    /// What the field `name` of the parameter holds.
    pub name: ParameterName,
    /// How a sentence names the parameter; `{}` stands for its name.
    pub says: &'static str,
    /// What the value is, for documentation.
    pub help: &'static str,
    pub(crate) origin: Origin,
}

/// What the field `name` of a parameter holds.
#[derive(Debug)]
#[non_exhaustive]
pub enum ParameterName {
    /// Nothing: the source is one value.
    None,
    /// A text, which is described here.
    Text(&'static str),
    /// One of these words, in any case.
    OneOf(&'static [NamedPart]),
}

/// A part of a source that has certain parts only.
#[derive(Debug)]
#[non_exhaustive]
pub struct NamedPart {
    /// Its name.
    pub word: &'static str,
    /// What the value is, for documentation.
    pub help: &'static str,
    pub(crate) part: Part,
}

/// What rules are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Of {
    #[default]
    Webhook,
    Answer,
}

impl Of {
    /// The field of an output that has the rules.
    pub(crate) const fn field(self) -> &'static str {
        match self {
            Self::Webhook => "rules",
            Self::Answer => "success_when",
        }
    }
}

/// How the values of a source are found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin {
    Header,
    Query,
    Payload,
    Body,
    Parts(&'static [NamedPart]),
    Text,
    EntirePayload,
    EntireQuery,
    EntireHeaders,
    Status,
}

/// A named part of the request, or of what was found out about the webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Method,
    Path,
    RemoteAddr,
    Verified,
    Event,
    DuplicateOf,
    Status,
}

impl ParameterSource {
    /// The source that `word` means.
    #[must_use]
    pub fn of(word: &str) -> Option<&'static Self> {
        SOURCES.iter().find(|it| it.words().any(|known| known == word))
    }

    /// The word and its aliases.
    pub fn words(&self) -> impl Iterator<Item = &'static str> + use<> {
        [self.word].into_iter().chain(self.aliases.iter().copied())
    }

    /// Whether rules about webhooks can look at it. The status is of answers only.
    #[must_use]
    pub const fn is_of_webhooks(&self) -> bool {
        !matches!(self.origin, Origin::Status)
    }

    /// Whether rules about `of` can look at it: an answer has no query and no sender.
    pub(crate) const fn is_of(&self, of: Of) -> bool {
        match of {
            Of::Webhook => self.is_of_webhooks(),
            Of::Answer => {
                !matches!(self.origin, Origin::Query | Origin::Parts(_) | Origin::EntireQuery)
            }
        }
    }

    /// Whether a parameter of this source has a name.
    #[must_use]
    pub const fn has_name(&self) -> bool {
        !matches!(self.name, ParameterName::None)
    }
}

/// The parts of the request.
const REQUEST_PARTS: &[NamedPart] = &[
    NamedPart { word: "method", help: "the method", part: Part::Method },
    NamedPart {
        word: "path",
        help: "what follows the input's address, as it came; empty when nothing does",
        part: Part::Path,
    },
    NamedPart { word: "remote-addr", help: "the sender's address", part: Part::RemoteAddr },
];

/// Findings about the webhook, named as the fields of its log.
const WEBHOOK_PARTS: &[NamedPart] = &[
    NamedPart {
        word: "verified",
        help: "`true` or `false`: whether the signature is right; missing when the input \
                       does not verify",
        part: Part::Verified,
    },
    NamedPart {
        word: "event",
        help: "the sender's name for what happened, where the webhook is verified and \
                       its provider has one",
        part: Part::Event,
    },
    NamedPart {
        word: "duplicate_of",
        help: "the log of the webhook that it repeats",
        part: Part::DuplicateOf,
    },
];

/// The sources of parameters.
pub const SOURCES: &[ParameterSource] = &[
    ParameterSource {
        word: "payload",
        aliases: &[],
        name: ParameterName::Text("a path such as `order.items.0.sku` or `commits.*.title`"),
        says: "payload {}",
        help: "the value at that path of the body, which is read as JSON, a form or XML",
        origin: Origin::Payload,
    },
    ParameterSource {
        word: "header",
        aliases: &[],
        name: ParameterName::Text("the header's name in any case"),
        says: "header {}",
        help: "its value",
        origin: Origin::Header,
    },
    ParameterSource {
        word: "query",
        aliases: &["url"],
        name: ParameterName::Text("the key"),
        says: "query {}",
        help: "its value, percent-decoded",
        origin: Origin::Query,
    },
    ParameterSource {
        word: "request",
        aliases: &[],
        name: ParameterName::OneOf(REQUEST_PARTS),
        says: "request {}",
        help: "a part of the request",
        origin: Origin::Parts(REQUEST_PARTS),
    },
    ParameterSource {
        word: "webhook",
        aliases: &[],
        name: ParameterName::OneOf(WEBHOOK_PARTS),
        says: "webhook {}",
        help: "what was found out about the webhook when it was received, named as in its log",
        origin: Origin::Parts(WEBHOOK_PARTS),
    },
    ParameterSource {
        word: "body",
        aliases: &["raw-request-body"],
        name: ParameterName::None,
        says: "the body",
        help: "the body, byte by byte",
        origin: Origin::Body,
    },
    ParameterSource {
        word: "string",
        aliases: &[],
        name: ParameterName::Text("any text"),
        says: "the text {}",
        help: "the name itself, the same for every webhook",
        origin: Origin::Text,
    },
    ParameterSource {
        word: "entire-payload",
        aliases: &[],
        name: ParameterName::None,
        says: "the entire payload",
        help: "the parsed body as JSON text without blanks between its parts",
        origin: Origin::EntirePayload,
    },
    ParameterSource {
        word: "entire-query",
        aliases: &[],
        name: ParameterName::None,
        says: "the entire query",
        help: "the query as JSON text, keys sorted",
        origin: Origin::EntireQuery,
    },
    ParameterSource {
        word: "entire-headers",
        aliases: &[],
        name: ParameterName::None,
        says: "the headers",
        help: "the headers as JSON text",
        origin: Origin::EntireHeaders,
    },
    ParameterSource {
        word: "status",
        aliases: &[],
        name: ParameterName::None,
        says: "the status",
        help: "(in `success_when` only) the status code of the destination's answer",
        origin: Origin::Status,
    },
];
