//! What a function was given and what it left, as one block.
//!
//! The request is there once, as it is: of what was left there is what differs, header by header.
//! Numbers are in base 128, the low digits first; what has a length is behind it, and what may be
//! absent is behind 0 or 1.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use sea_orm::prelude::Uuid;
use webhook_core::{
    DeliveryId,
    function::record::{Given, KeptBody, KeptResponse, Left},
    model::Checks,
};

use super::{Malformed, decode_headers, encode_headers, text};

/// The first byte of a block. Another form would have another.
const FORM: u8 = 1;

/// The first byte of a block that stands for several runs: their number is behind it.
const SAMPLE: u8 = 2;

/// The block of a run. Its record stands for `stands_for` runs.
pub(crate) fn encode_run(stands_for: u64, given: &Given, left: &Left) -> Vec<u8> {
    let headers = encode_headers(&given.headers);
    let mut block = Block(Vec::with_capacity(headers.len() + given.body.bytes.len() + 1024));
    match usize::try_from(stands_for) {
        Ok(runs) if runs > 1 => {
            block.0.push(SAMPLE);
            block.number(runs);
        }
        _ => block.0.push(FORM),
    }
    let Given { method, extra_path, raw_query, headers: before, body, .. } = given;
    let Given { metadata, checks, response, .. } = given;
    block.part(method.as_str());
    block.part(extra_path);
    block.part(raw_query);
    block.part(headers);
    block.body(body);
    block.number(metadata.len());
    for (key, value) in metadata {
        block.part(key);
        block.part(value);
    }
    let Checks { verified, event, duplicate_of, .. } = checks;
    block.option(verified.as_ref(), |block, verified| block.flag(*verified));
    block.option(event.as_ref(), |block, event| block.part(event));
    block.option(duplicate_of.as_ref(), |block, log| block.part(log.as_uuid()));
    block.option(response.as_ref(), Block::response);

    let Left { method, extra_path, raw_query, headers, body, response, .. } = left;
    let Left { response_modified, stop_forwarding, error, logs, .. } = left;
    block.option(method.as_ref(), |block, method| block.part(method.as_str()));
    block.option(extra_path.as_ref(), |block, path| block.part(path));
    block.option(raw_query.as_ref(), |block, query| block.part(query));
    block.option(headers.as_ref(), |block, after| block.changes(before, after));
    block.option(body.as_ref(), Block::body);
    block.option(response.as_ref(), Block::response);
    block.flag(*response_modified);
    block.flag(*stop_forwarding);
    block.part(error);
    block.number(logs.len());
    for line in logs {
        block.part(line);
    }
    block.0
}

/// What [`encode_run`] made the block of. Bodies share its memory.
pub(crate) fn decode_run(block: Vec<u8>) -> Result<(u64, Given, Left), Malformed> {
    let mut parts = Parts(block.into());
    let stands_for = match parts.byte()? {
        FORM => 1,
        SAMPLE => parts.number()? as u64,
        _ => return Err(Malformed("a run in an unknown form")),
    };
    let given = Given {
        method: parts.method()?,
        extra_path: parts.text()?,
        raw_query: parts.text()?,
        headers: decode_headers(&parts.part()?)?,
        body: parts.body()?,
        metadata: parts.metadata()?,
        checks: parts.checks()?,
        response: parts.option(Parts::response)?,
    };
    let left = Left {
        method: parts.option(Parts::method)?,
        extra_path: parts.option(Parts::text)?,
        raw_query: parts.option(Parts::text)?,
        headers: parts.option(|parts| parts.changed(&given.headers))?,
        body: parts.option(Parts::body)?,
        response: parts.option(Parts::response)?,
        response_modified: parts.flag()?,
        stop_forwarding: parts.flag()?,
        error: parts.text()?,
        logs: parts.many(Parts::text)?,
    };
    if parts.0.is_empty() {
        Ok((stands_for, given, left))
    } else {
        Err(Malformed("bytes after the run"))
    }
}

/// A block that is written.
struct Block(Vec<u8>);

impl Block {
    fn number(&mut self, mut number: usize) {
        while number > 0x7f {
            self.0.push(0x80 | (number & 0x7f) as u8);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn part(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        self.number(part.len());
        self.0.extend_from_slice(part);
    }

    fn flag(&mut self, flag: bool) {
        self.0.push(flag.into());
    }

    fn option<T>(&mut self, value: Option<&T>, put: impl FnOnce(&mut Self, &T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            put(self, value);
        }
    }

    fn body(&mut self, KeptBody { bytes, truncated }: &KeptBody) {
        self.flag(*truncated);
        self.part(bytes);
    }

    fn response(&mut self, response: &KeptResponse) {
        let KeptResponse { status, headers, body } = response;
        self.number((*status).into());
        self.part(encode_headers(headers));
        self.body(body);
    }

    /// The headers with other values than before, with none where they are gone.
    fn changes(&mut self, before: &HeaderMap, after: &HeaderMap) {
        let gone = before.keys().filter(|name| !after.contains_key(*name));
        let is_changed =
            |name: &&HeaderName| !before.get_all(*name).iter().eq(after.get_all(*name));
        let changed: Vec<_> = gone.chain(after.keys().filter(is_changed)).collect();
        self.number(changed.len());
        for name in changed {
            self.part(name);
            let values = after.get_all(name);
            self.number(values.iter().count());
            values.iter().for_each(|value| self.part(value));
        }
    }
}

/// What is left of a block that is read.
struct Parts(Bytes);

impl Parts {
    fn byte(&mut self) -> Result<u8, Malformed> {
        let byte = *self.0.first().ok_or(Malformed("the run is cut short"))?;
        let _ = self.0.split_to(1);
        Ok(byte)
    }

    fn number(&mut self) -> Result<usize, Malformed> {
        let mut number = 0;
        // Four digits and some bits of the fifth are what a length has.
        for digit in 0..5 {
            let byte = self.byte()?;
            number |= usize::from(byte & 0x7f) << (7 * digit);
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Malformed("a number is too long"))
    }

    fn part(&mut self) -> Result<Bytes, Malformed> {
        let length = self.number()?;
        if length > self.0.len() {
            return Err(Malformed("the run is cut short"));
        }
        Ok(self.0.split_to(length))
    }

    fn text(&mut self) -> Result<String, Malformed> {
        text(&self.part()?)
    }

    fn flag(&mut self) -> Result<bool, Malformed> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed("neither yes nor no")),
        }
    }

    fn option<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Option<T>, Malformed> {
        if self.flag()? { read(self).map(Some) } else { Ok(None) }
    }

    fn many<T, C: FromIterator<T>>(
        &mut self,
        read: impl Fn(&mut Self) -> Result<T, Malformed>,
    ) -> Result<C, Malformed> {
        (0..self.number()?).map(|_| read(self)).collect()
    }

    fn method(&mut self) -> Result<Method, Malformed> {
        Method::from_bytes(&self.part()?).map_err(|_| Malformed("a bad method"))
    }

    fn body(&mut self) -> Result<KeptBody, Malformed> {
        Ok(KeptBody { truncated: self.flag()?, bytes: self.part()? })
    }

    fn metadata(&mut self) -> Result<BTreeMap<String, String>, Malformed> {
        self.many(|parts| Ok((parts.text()?, parts.text()?)))
    }

    fn checks(&mut self) -> Result<Checks, Malformed> {
        let (verified, event) = (self.option(Self::flag)?, self.option(Self::text)?);
        let log = self.option(Self::part)?.map(|log| Uuid::from_slice(&log));
        let log = log.transpose().map_err(|_| Malformed("a bad identifier"))?;
        let duplicate_of = log.map(DeliveryId::from_uuid);
        Ok(Checks { verified, event, duplicate_of, ..Checks::default() })
    }

    fn response(&mut self) -> Result<KeptResponse, Malformed> {
        let status = self.number()?.try_into().map_err(|_| Malformed("a bad status"))?;
        Ok(KeptResponse { status, headers: decode_headers(&self.part()?)?, body: self.body()? })
    }

    fn changed(&mut self, before: &HeaderMap) -> Result<HeaderMap, Malformed> {
        let mut headers = before.clone();
        let names: usize = self.number()?;
        for _ in 0..names {
            let name = HeaderName::from_bytes(&self.part()?);
            let name = name.map_err(|_| Malformed("a bad header name"))?;
            headers.remove(&name);
            for value in self.many::<_, Vec<_>>(Self::part)? {
                let value = HeaderValue::from_maybe_shared(value);
                let value = value.map_err(|_| Malformed("a bad header value"))?;
                let added = headers.try_append(&name, value);
                added.map_err(|_| Malformed("too many headers"))?;
            }
        }
        Ok(headers)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::tests::headers, *};

    fn body() -> impl Strategy<Value = KeptBody> {
        let bytes = prop::collection::vec(any::<u8>(), 0..200);
        (bytes, any::<bool>())
            .prop_map(|(bytes, truncated)| KeptBody { bytes: bytes.into(), truncated })
    }

    fn response() -> impl Strategy<Value = KeptResponse> {
        (any::<u16>(), headers(), body()).prop_map(|(status, headers, body)| KeptResponse {
            status,
            headers,
            body,
        })
    }

    fn method() -> impl Strategy<Value = Method> {
        "[A-Z]{1,7}".prop_map(|method| Method::from_bytes(method.as_bytes()).expect("a token"))
    }

    fn given() -> impl Strategy<Value = Given> {
        let checks = (any::<Option<bool>>(), prop::option::of("\\PC*"), any::<Option<u128>>());
        let checks = checks.prop_map(|(verified, event, log)| {
            let duplicate_of = log.map(|log| DeliveryId::from_uuid(Uuid::from_u128(log)));
            Checks { verified, event, duplicate_of, ..Checks::default() }
        });
        let metadata = prop::collection::btree_map("[a-z]*", ".*", 0..4);
        let texts = (method(), "\\PC*", ".*");
        let answer = prop::option::of(response());
        (texts, headers(), body(), metadata, checks, answer).prop_map(
            |((method, extra_path, raw_query), headers, body, metadata, checks, response)| Given {
                method,
                extra_path,
                raw_query,
                headers,
                body,
                metadata,
                checks,
                response,
            },
        )
    }

    fn left() -> impl Strategy<Value = Left> {
        let texts = (prop::option::of(method()), any::<Option<String>>(), any::<Option<String>>());
        let parts = (prop::option::of(headers()), prop::option::of(body()));
        let lines = prop::collection::vec(".*", 0..4);
        let rest = (any::<bool>(), any::<bool>(), ".*", lines);
        (texts, parts, prop::option::of(response()), rest).prop_map(
            |(texts, (headers, body), response, rest)| {
                let (method, extra_path, raw_query) = texts;
                let (response_modified, stop_forwarding, error, logs) = rest;
                Left {
                    method,
                    extra_path,
                    raw_query,
                    headers,
                    body,
                    response,
                    response_modified,
                    stop_forwarding,
                    error,
                    logs,
                }
            },
        )
    }

    proptest! {
        #[test]
        fn runs_survive(stands_for in 1..u64::from(u32::MAX), given in given(), left in left()) {
            let block = encode_run(stands_for, &given, &left);
            let read = decode_run(block).expect("what was written");
            prop_assert_eq!(read, (stands_for, given, left));
        }

        #[test]
        fn any_bytes_decode_or_fail(mut bytes in prop::collection::vec(any::<u8>(), 1..200)) {
            let _ = decode_run(bytes.clone());
            for form in [FORM, SAMPLE] {
                bytes[0] = form;
                let _ = decode_run(bytes.clone());
            }
        }

        #[test]
        fn what_is_cut_fails(given in given(), left in left(), kept in 0.0..1.0) {
            let mut block = encode_run(7, &given, &left);
            block.truncate((block.len() as f64 * kept) as usize);
            prop_assert!(decode_run(block).is_err());
        }
    }

    #[test]
    fn of_headers_there_is_what_was_changed() {
        let mut given = sample();
        for name in ["x-stays", "x-changes", "x-goes"] {
            given.headers.insert(name, HeaderValue::from_static("a value of some length"));
        }
        let mut after = given.headers.clone();
        after.remove("x-goes");
        after.append("x-changes", HeaderValue::from_static("b"));
        let left = Left { headers: Some(after), ..Left::default() };
        let block = encode_run(1, &given, &left);
        let stays = block.windows(7).filter(|part| part == b"x-stays").count();
        assert_eq!(stays, 1);
        assert_eq!(decode_run(block).expect("what was written"), (1, given, left));
    }

    #[test]
    fn what_was_not_changed_is_there_once() {
        let body = KeptBody { bytes: vec![0xff; 1_000].into(), truncated: false };
        let given = Given { body, ..sample() };
        let block = encode_run(1, &given, &Left::default());
        assert!(block.len() < 1_050, "{} bytes", block.len());
    }

    fn sample() -> Given {
        Given {
            method: Method::POST,
            extra_path: String::new(),
            raw_query: String::new(),
            headers: HeaderMap::new(),
            body: KeptBody::default(),
            metadata: BTreeMap::new(),
            checks: Checks::default(),
            response: None,
        }
    }
}
