//! Values of JSON whose numbers are as they are written.

use std::{borrow::Cow, rc::Rc};

use super::{Bounds, MAX_DEPTH, ModuleError, Output};

/// A value. Copies share their lists and objects.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node<'j> {
    Null,
    Bool(bool),
    /// The text of a number.
    Number(Cow<'j, str>),
    Text(Cow<'j, str>),
    List(Rc<Vec<Node<'j>>>),
    Object(Rc<Vec<(Cow<'j, str>, Node<'j>)>>),
}

impl<'j> Node<'j> {
    /// The value of a JSON text.
    pub(crate) fn from_json(json: &'j str, bounds: &mut Bounds) -> Result<Self, ModuleError> {
        let mut reader = Reader { json, at: 0, bounds };
        let value = reader.value(0)?;
        reader.skip_space();
        match reader.at == json.len() {
            true => Ok(value),
            false => Err(reader.wrong()),
        }
    }

    /// The value with texts of its own.
    pub(crate) fn into_owned(self) -> Node<'static> {
        let owned = |text: &Cow<'_, str>| Cow::Owned(text.clone().into_owned());
        match self {
            Node::Null => Node::Null,
            Node::Bool(value) => Node::Bool(value),
            Node::Number(text) => Node::Number(owned(&text)),
            Node::Text(text) => Node::Text(owned(&text)),
            Node::List(items) => {
                Node::List(Rc::new(items.iter().cloned().map(Node::into_owned).collect()))
            }
            Node::Object(fields) => {
                let fields = fields.iter().cloned();
                let fields = fields.map(|(key, value)| (owned(&key), value.into_owned()));
                Node::Object(Rc::new(fields.collect()))
            }
        }
    }

    pub(crate) fn text(text: String) -> Self {
        Node::Text(Cow::Owned(text))
    }

    /// A number that was computed.
    pub(crate) fn number(value: f64) -> Result<Self, ModuleError> {
        /// Whole numbers up to this are exact.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if !value.is_finite() {
            return Err(ModuleError::invalid("a number is too large"));
        }
        let text = match value.fract() == 0.0 && value.abs() <= EXACT {
            true => format!("{}", value as i64),
            false => {
                serde_json::Number::from_f64(value).map_or_else(String::new, |n| n.to_string())
            }
        };
        Ok(Node::Number(Cow::Owned(text)))
    }

    pub(crate) fn as_number(&self) -> Option<f64> {
        match self {
            Node::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Node::Null => "null",
            Node::Bool(_) => "boolean",
            Node::Number(_) => "number",
            Node::Text(_) => "string",
            Node::List(_) => "array",
            Node::Object(_) => "object",
        }
    }

    /// Whether it counts as true: false, null and what is empty do not.
    pub(crate) fn holds(&self) -> bool {
        match self {
            Node::Null => false,
            Node::Bool(value) => *value,
            Node::Number(_) => true,
            Node::Text(text) => !text.is_empty(),
            Node::List(items) => !items.is_empty(),
            Node::Object(fields) => !fields.is_empty(),
        }
    }

    /// A field of an object, if it has one of that name.
    pub(crate) fn field(
        &self,
        name: &str,
        bounds: &mut Bounds,
    ) -> Result<Option<&Self>, ModuleError> {
        let Node::Object(fields) = self else { return Ok(None) };
        // Of two fields of a name the last one counts.
        for (key, value) in fields.iter().rev() {
            bounds.take(0)?;
            if key == name {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// Whether two values are the same; numbers by what they are, not by how they are written.
    pub(crate) fn is_same(&self, other: &Self, bounds: &mut Bounds) -> Result<bool, ModuleError> {
        bounds.take(0)?;
        Ok(match (self, other) {
            (Node::Number(left), Node::Number(right)) => {
                left == right || (self.as_number() == other.as_number() && !both_whole(left, right))
            }
            (Node::List(left), Node::List(right)) => {
                if left.len() != right.len() {
                    return Ok(false);
                }
                for (left, right) in left.iter().zip(right.iter()) {
                    if !left.is_same(right, bounds)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Node::Object(left), Node::Object(right)) => {
                if left.len() != right.len() {
                    return Ok(false);
                }
                for (key, value) in left.iter() {
                    let same = match other.field(key, bounds)? {
                        Some(other) => value.is_same(other, bounds)?,
                        None => false,
                    };
                    if !same {
                        return Ok(false);
                    }
                }
                true
            }
            (Node::List(_) | Node::Object(_), _) | (_, Node::List(_) | Node::Object(_)) => false,
            (left, right) => left == right,
        })
    }

    /// The value as JSON.
    pub(crate) fn to_json(
        &self,
        longest: usize,
        bounds: &mut Bounds,
    ) -> Result<Vec<u8>, ModuleError> {
        let mut output = Output::of_at_most(longest);
        self.write(&mut output, 0, bounds)?;
        output.finish()
    }

    fn write(
        &self,
        output: &mut Output,
        depth: usize,
        bounds: &mut Bounds,
    ) -> Result<(), ModuleError> {
        bounds.take(0)?;
        if depth > MAX_DEPTH {
            return Err(ModuleError::invalid(format!(
                "the result has more than {MAX_DEPTH} levels"
            )));
        }
        match self {
            Node::Null => output.push(b"null"),
            Node::Bool(value) => output.push(if *value { b"true" } else { b"false" }),
            Node::Number(text) => output.push(text.as_bytes()),
            Node::Text(text) => output.push_json(&**text),
            Node::List(items) => {
                output.push(b"[")?;
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        output.push(b",")?;
                    }
                    item.write(output, depth + 1, bounds)?;
                }
                output.push(b"]")
            }
            Node::Object(fields) => {
                output.push(b"{")?;
                for (index, (key, value)) in fields.iter().enumerate() {
                    if index > 0 {
                        output.push(b",")?;
                    }
                    output.push_json(&**key)?;
                    output.push(b":")?;
                    value.write(output, depth + 1, bounds)?;
                }
                output.push(b"}")
            }
        }
    }
}

/// Whether both are whole numbers, which are other numbers when they are written otherwise.
fn both_whole(left: &str, right: &str) -> bool {
    let is_whole = |text: &str| text.parse::<i128>().is_ok_and(|value| value != 0);
    is_whole(left) && is_whole(right)
}

/// Reads JSON that an encoder has written, or that was looked at before.
struct Reader<'j, 'b> {
    json: &'j str,
    at: usize,
    bounds: &'b mut Bounds,
}

impl<'j> Reader<'j, '_> {
    fn wrong(&self) -> ModuleError {
        ModuleError::invalid(format!("the value is not JSON at byte {}", self.at + 1))
    }

    fn skip_space(&mut self) {
        let rest = &self.json.as_bytes()[self.at..];
        let space = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        self.at += space.count();
    }

    fn next(&mut self) -> Option<u8> {
        self.skip_space();
        self.json.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, byte: u8) -> Result<(), ModuleError> {
        if self.next() != Some(byte) {
            return Err(self.wrong());
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self, word: &str, value: Node<'j>) -> Result<Node<'j>, ModuleError> {
        if !self.json[self.at..].starts_with(word) {
            return Err(self.wrong());
        }
        self.at += word.len();
        Ok(value)
    }

    fn value(&mut self, depth: usize) -> Result<Node<'j>, ModuleError> {
        if depth > MAX_DEPTH {
            return Err(ModuleError::invalid(format!(
                "the value has more than {MAX_DEPTH} levels"
            )));
        }
        // A list keeps as much room again.
        self.bounds.take(2 * size_of::<Node<'_>>())?;
        match self.next().ok_or_else(|| self.wrong())? {
            b'n' => self.word("null", Node::Null),
            b't' => self.word("true", Node::Bool(true)),
            b'f' => self.word("false", Node::Bool(false)),
            b'"' => self.text().map(Node::Text),
            b'[' => {
                self.at += 1;
                let mut items = Vec::new();
                while self.next() != Some(b']') {
                    if !items.is_empty() {
                        self.skip(b',')?;
                    }
                    items.push(self.value(depth + 1)?);
                }
                self.at += 1;
                self.bounds.take(4 * size_of::<usize>())?;
                Ok(Node::List(Rc::new(items)))
            }
            b'{' => {
                self.at += 1;
                let mut fields = Vec::new();
                while self.next() != Some(b'}') {
                    if !fields.is_empty() {
                        self.skip(b',')?;
                    }
                    if self.next() != Some(b'"') {
                        return Err(self.wrong());
                    }
                    let key = self.text()?;
                    self.bounds.take(2 * size_of::<Cow<'_, str>>())?;
                    self.skip(b':')?;
                    fields.push((key, self.value(depth + 1)?));
                }
                self.at += 1;
                self.bounds.take(4 * size_of::<usize>())?;
                Ok(Node::Object(Rc::new(fields)))
            }
            b'-' | b'0'..=b'9' => {
                let rest = &self.json[self.at..];
                let is_part = |c: char| matches!(c, '0'..='9' | '.' | 'e' | 'E' | '+' | '-');
                let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                if rest[..end].parse::<f64>().is_err() {
                    return Err(self.wrong());
                }
                self.at += end;
                Ok(Node::Number(Cow::Borrowed(&rest[..end])))
            }
            _ => Err(self.wrong()),
        }
    }

    fn text(&mut self) -> Result<Cow<'j, str>, ModuleError> {
        let rest = &self.json[self.at..];
        let (mut end, mut escaped) = (1, false);
        loop {
            let tail = rest.as_bytes().get(end..).ok_or_else(|| self.wrong())?;
            end += memchr::memchr2(b'"', b'\\', tail).ok_or_else(|| self.wrong())? + 1;
            if rest.as_bytes()[end - 1] == b'"' {
                break;
            }
            escaped = true;
            end += 1;
        }
        self.at += end;
        if !escaped {
            return Ok(Cow::Borrowed(&rest[1..end - 1]));
        }
        self.bounds.take(end)?;
        let text = serde_json::from_str(&rest[..end]).map_err(|_| self.wrong())?;
        Ok(Cow::Owned(text))
    }
}
