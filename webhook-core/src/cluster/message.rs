//! What nodes say, and the bytes that stand for it.
//!
//! A message is a version, the length of its head, the head in JSON, and the body of a webhook
//! or of an answer, if it has one, as it is.

use crate::wire::{
    Request, Timestamp,
    id::{AccountId, BucketId, DeliveryId, FunctionId, InputId, NodeId, OutputId, TokenId},
};
use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::cluster::{
    broadcast::MAX_MESSAGE_BYTES,
    client::{ConnectedClient, Listening, StreamedWebhook},
};

/// The first byte of these messages; those with another one are for later programs.
const VERSION: u8 = 1;
/// The version and the length of the head.
const PREFIX_BYTES: usize = 5;
/// What [`Sealed`](crate::cluster::Sealed) may add.
const ENVELOPE_BYTES: usize = 64;

/// What one node says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub from: NodeId,
    /// When, by the store's clock in whole seconds: what is old counts for nothing.
    pub sent_at: Timestamp,
    /// What it says.
    pub content: Content,
}

/// What there is to say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Something is otherwise in the store than it was.
    Changed(Change),
    /// The node is there.
    Present(Presence),
    /// The node ends.
    Gone,
    /// Clients of the node get a webhook.
    Streamed(Box<Streamed>),
    /// Somebody waits at the sender of this for the answer to one of these.
    Awaited(Vec<DeliveryId>),
    /// The answer that somebody waits for at the node.
    Answered(Answered),
    /// Which clients of an account are connected?
    Asked {
        /// What the answer is to be for.
        question: u64,
        /// The account.
        account: AccountId,
    },
    /// These are.
    Connected {
        /// What was asked.
        question: u64,
        /// The clients.
        clients: Vec<ConnectedClient>,
        /// Whether there are more of them.
        more: bool,
    },
    /// Deliveries of these outputs are left to the node.
    Left(Vec<OutputId>),
}

/// Something that nodes keep in memory has changed in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A bucket, an input or an output of it was made, changed or removed.
    Bucket(BucketChange),
    /// A function or one of its variables was changed or removed.
    Function(FunctionId),
    /// A credential was withdrawn or reaches other buckets now.
    Credential {
        /// Whose it is.
        account: AccountId,
        /// The access token; none for the API key.
        token: Option<TokenId>,
    },
    /// The domain of this name was reserved or given back, or inputs came to it or left it.
    Domain(String),
    /// A cron was made or changed.
    Crons,
    /// A replay was made or resumed.
    Replays,
    /// A notification of the account was made, changed or removed.
    Notifications(AccountId),
    /// The account has another plan, or has used up what its plan includes of a month's webhooks.
    Plan(AccountId),
}

/// Which bucket has changed, with all that it had before or has now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BucketChange {
    /// Whose it is.
    pub account: AccountId,
    /// The bucket.
    pub bucket: BucketId,
    /// Its inputs.
    pub inputs: Vec<InputId>,
    /// Its outputs.
    pub outputs: Vec<OutputId>,
    /// The domains that its inputs have.
    pub domains: Vec<String>,
}

/// What others have to know of a node that is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Presence {
    /// What its clients listen to, for each account that has any.
    pub listening: Vec<(AccountId, Listening)>,
    /// Whether there are too many of them to be listed: it gets every webhook that is streamed.
    pub everything: bool,
}

/// A webhook for clients of another node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Streamed {
    /// Counts what the sender has streamed to the node, from 1: a number that is left out is a
    /// webhook that got lost.
    pub number: u64,
    /// Whose webhook it is.
    pub account: AccountId,
    /// The webhook; none when it is too large to be carried, so that it is to be read in the
    /// store.
    pub webhook: Option<StreamedWebhook>,
}

/// How a delivery ended that a sender waits for at another node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// The delivery.
    pub delivery: DeliveryId,
    /// The status of the answer; none when there is no answer, or one too large to be carried.
    pub status: Option<u16>,
    /// Its headers.
    #[serde(with = "headers")]
    pub headers: HeaderMap,
    /// Its body.
    #[serde(skip)]
    pub body: Bytes,
}

impl Content {
    fn body(&self) -> Option<&Bytes> {
        match self {
            Self::Streamed(streamed) => streamed.webhook.as_ref().map(|it| &it.request.body),
            Self::Answered(answered) => Some(&answered.body),
            _ => None,
        }
    }

    fn body_mut(&mut self) -> Option<&mut Bytes> {
        match self {
            Self::Streamed(streamed) => streamed.webhook.as_mut().map(|it| &mut it.request.body),
            Self::Answered(answered) => Some(&mut answered.body),
            _ => None,
        }
    }
}

impl Message {
    /// The bytes that stand for it; none when they are too many to be carried.
    #[must_use]
    pub fn encode(&self) -> Option<Bytes> {
        let body = self.content.body().map(|body| &**body).unwrap_or_default();
        let room = MAX_MESSAGE_BYTES - ENVELOPE_BYTES - PREFIX_BYTES;
        let room = room.checked_sub(body.len())?;
        let head = serde_json::to_vec(self).ok()?;
        let length = u32::try_from(head.len()).ok().filter(|_| head.len() <= room)?;
        let mut bytes = BytesMut::with_capacity(PREFIX_BYTES + head.len() + body.len());
        bytes.put_u8(VERSION);
        bytes.put_u32(length);
        bytes.put_slice(&head);
        bytes.put_slice(body);
        Some(bytes.freeze())
    }

    /// The message that these bytes stand for; none when a later program made them.
    #[must_use]
    pub fn decode(bytes: &Bytes) -> Option<Self> {
        let (prefix, _) = bytes.split_at_checked(PREFIX_BYTES)?;
        let [VERSION, length @ ..] = prefix else { return None };
        let length = u32::from_be_bytes(length.try_into().ok()?) as usize;
        let end = PREFIX_BYTES.checked_add(length).filter(|end| *end <= bytes.len())?;
        let mut message: Self = serde_json::from_slice(&bytes[PREFIX_BYTES..end]).ok()?;
        if let Some(body) = message.content.body_mut() {
            *body = bytes.slice(end..);
        }
        Some(message)
    }
}

/// A request without its body.
#[derive(Serialize, Deserialize)]
struct Head {
    method: String,
    extra_path: String,
    raw_query: String,
    #[serde(with = "headers")]
    headers: HeaderMap,
}

pub(crate) mod request {
    //! A request without its body, which is beside the head of a message.

    use super::{
        Bytes, Deserialize, Deserializer, Head, Method, Request, Serialize, Serializer, de,
    };

    pub(crate) fn serialize<S: Serializer>(
        request: &Request,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let Request { method, extra_path, raw_query, headers, body: _ } = request;
        let (extra_path, raw_query) = (extra_path.clone(), raw_query.clone());
        let method = method.as_str().to_owned();
        Head { method, extra_path, raw_query, headers: headers.clone() }.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Request, D::Error> {
        let Head { method, extra_path, raw_query, headers } = Head::deserialize(deserializer)?;
        let method = Method::from_bytes(method.as_bytes()).map_err(de::Error::custom)?;
        Ok(Request { method, extra_path, raw_query, headers, body: Bytes::new() })
    }
}

mod headers {
    //! Headers as they are: each byte of a value is one character.

    use super::{Deserialize, Deserializer, HeaderMap, HeaderName, HeaderValue, Serializer, de};

    pub(super) fn serialize<S: Serializer>(
        headers: &HeaderMap,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(headers.iter().map(|(name, value)| {
            let value: String = value.as_bytes().iter().copied().map(char::from).collect();
            (name.as_str(), value)
        }))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<HeaderMap, D::Error> {
        let pairs = Vec::<(String, String)>::deserialize(deserializer)?;
        let mut headers = HeaderMap::with_capacity(pairs.len());
        for (name, value) in pairs {
            let bytes: Result<Vec<u8>, _> = value.chars().map(u8::try_from).collect();
            let bytes = bytes.map_err(de::Error::custom)?;
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(de::Error::custom)?;
            headers.append(name, HeaderValue::from_bytes(&bytes).map_err(de::Error::custom)?);
        }
        Ok(headers)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::cluster::ClientInfo;

    fn message(content: Content) -> Message {
        let sent_at = Timestamp::from_secs(1_700_000_000);
        Message { from: NodeId::generate(), sent_at, content }
    }

    fn streamed(body: Bytes) -> Content {
        let mut headers = HeaderMap::new();
        headers.append("x-one", HeaderValue::from_static("1"));
        headers.append("x-one", HeaderValue::from_bytes(b"\xff\"\t").expect("a value"));
        let request = Request {
            method: Method::from_bytes(b"PURGE").expect("a method"),
            extra_path: "/ä%20".to_owned(),
            raw_query: "a=b".to_owned(),
            headers,
            body,
        };
        let webhook = StreamedWebhook {
            id: DeliveryId::generate(),
            bucket_id: BucketId::generate(),
            bucket_name: "orders".to_owned(),
            input_id: InputId::generate(),
            input_name: String::new(),
            output_name: "agent".to_owned(),
            output_destination: "http://localhost:3000/hook".to_owned(),
            request,
        };
        let account = AccountId::generate();
        Content::Streamed(Box::new(Streamed { number: 3, account, webhook: Some(webhook) }))
    }

    fn contents() -> Vec<Content> {
        let account = AccountId::generate();
        let listening = Listening::Buckets(HashSet::from([BucketId::generate()]));
        let client = ConnectedClient {
            info: ClientInfo {
                token_id: Some(TokenId::generate()),
                ip: Some("::1".parse().expect("an address")),
                kind: "agent".to_owned(),
                ..ClientInfo::default()
            },
            listening: listening.clone(),
            outputs: vec!["agent".to_owned()],
            subscribed_at: Timestamp::from_secs(1),
        };
        let bucket = BucketChange {
            account,
            bucket: BucketId::generate(),
            inputs: vec![InputId::generate()],
            outputs: vec![OutputId::generate(), OutputId::generate()],
            domains: vec!["example.com".to_owned()],
        };
        let all = (AccountId::generate(), Listening::All);
        vec![
            Content::Changed(Change::Bucket(bucket)),
            Content::Changed(Change::Function(FunctionId::generate())),
            Content::Changed(Change::Credential { account, token: None }),
            Content::Changed(Change::Domain("example.com".to_owned())),
            Content::Changed(Change::Crons),
            Content::Changed(Change::Replays),
            Content::Changed(Change::Notifications(account)),
            Content::Changed(Change::Plan(account)),
            Content::Present(Presence {
                listening: vec![(account, listening), all],
                everything: false,
            }),
            Content::Gone,
            streamed(Bytes::from_static(b"\x00\xff body")),
            Content::Streamed(Box::new(Streamed { number: 1, account, webhook: None })),
            Content::Awaited(vec![DeliveryId::generate()]),
            Content::Answered(Answered {
                delivery: DeliveryId::generate(),
                status: Some(201),
                headers: HeaderMap::new(),
                body: Bytes::from_static(b"made"),
            }),
            Content::Asked { question: 1, account },
            Content::Connected { question: 1, clients: vec![client], more: true },
            Content::Left(vec![OutputId::generate()]),
        ]
    }

    #[test]
    fn what_is_said_is_understood() {
        for content in contents() {
            let said = message(content);
            let bytes = said.encode().expect("short");
            assert_eq!(Message::decode(&bytes), Some(said));
        }
    }

    #[test]
    fn what_later_programs_say_is_left_out() {
        let said = message(Content::Gone);
        let mut later = said.encode().expect("short").to_vec();
        later[0] = 2;
        assert_eq!(Message::decode(&later.into()), None);
        let text = serde_json::to_string(&said).expect("JSON").replace("gone", "promoted");
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(&u32::try_from(text.len()).expect("short").to_be_bytes());
        bytes.extend_from_slice(text.as_bytes());
        assert_eq!(Message::decode(&bytes.into()), None);
    }

    #[test]
    fn what_is_too_long_is_not_said() {
        let long = message(streamed(Bytes::from(vec![0; MAX_MESSAGE_BYTES])));
        assert_eq!(long.encode(), None);
        let fits = message(streamed(Bytes::from(vec![0; MAX_MESSAGE_BYTES - 2_000])));
        assert!(fits.encode().is_some_and(|bytes| bytes.len() <= MAX_MESSAGE_BYTES));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = Message::decode(&bytes.clone().into());
            let prefixed = [&[VERSION, 0, 0, 0, 2], &*bytes].concat();
            let _ = Message::decode(&prefixed.into());
        }
    }
}
