//! Reads what a collector gets: protobuf, by the numbers of OTLP's definitions.

/// A span that arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct Span {
    pub(crate) service: String,
    pub(crate) trace: String,
    pub(crate) id: String,
    pub(crate) parent: String,
    pub(crate) name: String,
    /// 2 for who answers a request, 3 for who sends it.
    pub(crate) kind: u64,
    pub(crate) started: u64,
    pub(crate) failed: bool,
    attributes: Vec<(String, String)>,
}

impl Span {
    /// An attribute as text.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// A field of a message: its number and what it says.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The spans of an `ExportTraceServiceRequest`.
pub(crate) fn spans(request: &[u8]) -> Vec<Span> {
    let mut all = Vec::new();
    for of_resource in messages(request, 1) {
        let resource = messages(of_resource, 1).next().expect("a resource");
        let service = messages(resource, 1).map(attribute).find(|(name, _)| name == "service.name");
        let (_, service) = service.expect("a name");
        for of_scope in messages(of_resource, 2) {
            let spans = messages(of_scope, 2).map(span);
            all.extend(spans.map(|span| Span { service: service.clone(), ..span }));
        }
    }
    all
}

fn span(message: &[u8]) -> Span {
    let mut span = Span::default();
    for (number, field) in fields(message) {
        match (number, field) {
            (1, Field::Bytes(id)) => span.trace = hex(id),
            (2, Field::Bytes(id)) => span.id = hex(id),
            (4, Field::Bytes(id)) => span.parent = hex(id),
            (5, Field::Bytes(name)) => span.name = text(name),
            (6, Field::Number(kind)) => span.kind = kind,
            (7, Field::Number(started)) => span.started = started,
            (8, Field::Number(ended)) => assert!(ended >= span.started),
            (9, Field::Bytes(pair)) => span.attributes.push(attribute(pair)),
            (15, Field::Bytes(status)) => {
                span.failed = fields(status).any(|it| matches!(it, (3, Field::Number(2))));
            }
            (other, _) => panic!("field {other} of a span"),
        }
    }
    span
}

fn attribute(pair: &[u8]) -> (String, String) {
    let name = messages(pair, 1).next().expect("a name");
    let value = messages(pair, 2).next().expect("a value");
    let value = match fields(value).next().expect("what it is") {
        (1, Field::Bytes(value)) => text(value),
        (3, Field::Number(value)) => value.to_string(),
        (other, _) => panic!("a value of kind {other}"),
    };
    (text(name), value)
}

fn messages(message: &[u8], wanted: u64) -> impl Iterator<Item = &[u8]> {
    fields(message).filter_map(move |(number, field)| match field {
        Field::Bytes(bytes) if number == wanted => Some(bytes),
        _ => None,
    })
}

fn fields(mut message: &[u8]) -> impl Iterator<Item = (u64, Field<'_>)> {
    std::iter::from_fn(move || {
        let head = (!message.is_empty()).then(|| varint(&mut message))?;
        let field = match head & 7 {
            0 => Field::Number(varint(&mut message)),
            1 => Field::Number(u64::from_le_bytes(take(&mut message, 8).try_into().expect("8"))),
            2 => {
                let length = usize::try_from(varint(&mut message)).expect("a length");
                Field::Bytes(take(&mut message, length))
            }
            other => panic!("wire type {other}"),
        };
        Some((head >> 3, field))
    })
}

fn varint(message: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(message, 1)[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}

fn take<'a>(message: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, rest) = message.split_at(count);
    *message = rest;
    taken
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}
