//! Comma-separated values.

use std::borrow::Cow;

use csv::{ByteRecord, ReaderBuilder, Terminator, WriterBuilder};
use serde_json::{Map, Value};

use super::{ModuleError, Output, tree::plain_text};

/// How a text is read and written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    /// Whether the first row names the fields, so that each other row is an object.
    pub(crate) header: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Self { delimiter: b',', header: false }
    }
}

/// What takes the rows of a text, one after the other.
pub(crate) trait Rows {
    /// The names of the fields, before any row, when the dialect has them.
    fn header(&mut self, names: &ByteRecord) -> Result<(), ModuleError>;

    /// A row, which may have more or fewer fields than the one before.
    fn row(&mut self, fields: &ByteRecord) -> Result<(), ModuleError>;
}

/// The least that a field takes while its row is read.
const FIELD_BYTES: usize = 24;

/// Hands the rows to `rows`, which charges what it makes of them. A text
/// whose rows alone would take more than `room` bytes is refused at once.
pub(crate) fn decode(
    data: &[u8],
    dialect: Dialect,
    room: usize,
    rows: &mut impl Rows,
) -> Result<(), ModuleError> {
    if memchr::memchr_iter(dialect.delimiter, data).count() > room / FIELD_BYTES {
        return Err(ModuleError::TooLarge);
    }
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(dialect.delimiter)
        .from_reader(data);
    let mut record = ByteRecord::new();
    let mut named = !dialect.header;
    let failed = |error| ModuleError::invalid(format!("csv: {error}"));
    while reader.read_byte_record(&mut record).map_err(failed)? {
        if named {
            rows.row(&record)?;
        } else {
            named = true;
            rows.header(&record)?;
        }
    }
    Ok(())
}

/// A list of lists, or a list of objects, whose names become the first row;
/// at most `longest` bytes.
pub(crate) fn encode(
    value: &Value,
    dialect: Dialect,
    longest: usize,
) -> Result<Vec<u8>, ModuleError> {
    let Value::Array(rows) = value else {
        return Err(ModuleError::invalid("csv: expected a list of rows"));
    };
    let mut writer = WriterBuilder::new()
        .flexible(true)
        .delimiter(dialect.delimiter)
        .terminator(Terminator::Any(b'\n'))
        .from_writer(Output::of_at_most(longest));
    let names = names(rows);
    if !names.is_empty() {
        writer.write_record(&names).map_err(failed)?;
    }
    for row in rows {
        match row {
            Value::Array(fields) => {
                for field in fields {
                    writer.write_field(plain(field)?.as_bytes()).map_err(failed)?;
                }
            }
            Value::Object(fields) => {
                for name in &names {
                    let field = fields.get(*name).map_or(Ok(Cow::Borrowed("")), plain)?;
                    writer.write_field(field.as_bytes()).map_err(failed)?;
                }
            }
            _ => return Err(ModuleError::invalid("csv: a row must be a list or a table")),
        }
        // Ends the row, whose fields are written.
        writer.write_record(None::<&[u8]>).map_err(failed)?;
    }
    writer.into_inner().map_err(|_| ModuleError::TooLong)?.finish()
}

/// Writing fails when the text grows too long.
fn failed(error: csv::Error) -> ModuleError {
    match error.kind() {
        csv::ErrorKind::Io(_) => ModuleError::TooLong,
        _ => ModuleError::invalid(format!("csv: {error}")),
    }
}

/// The names of all objects, in the order in which they come up.
fn names(rows: &[Value]) -> Vec<&str> {
    let mut seen: Map<String, Value> = Map::new();
    let mut names = Vec::new();
    for name in rows.iter().filter_map(Value::as_object).flat_map(Map::keys) {
        if !seen.contains_key(name) {
            seen.insert(name.clone(), Value::Null);
            names.push(name.as_str());
        }
    }
    names
}

fn plain(value: &Value) -> Result<Cow<'_, str>, ModuleError> {
    plain_text(value).ok_or_else(|| ModuleError::invalid("csv: a field must be a plain value"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Every record, the header's first field marked.
    #[derive(Debug, Default, PartialEq)]
    struct Records(Vec<Vec<String>>);

    fn texts(record: &ByteRecord) -> Vec<String> {
        record.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect()
    }

    impl Rows for Records {
        fn header(&mut self, names: &ByteRecord) -> Result<(), ModuleError> {
            self.0.push([vec!["header".to_owned()], texts(names)].concat());
            Ok(())
        }

        fn row(&mut self, fields: &ByteRecord) -> Result<(), ModuleError> {
            self.0.push(texts(fields));
            Ok(())
        }
    }

    fn records(
        text: &[u8],
        dialect: Dialect,
        room: usize,
    ) -> Result<Vec<Vec<String>>, ModuleError> {
        let mut records = Records::default();
        decode(text, dialect, room, &mut records).map(|()| records.0)
    }

    #[test]
    fn records_come_one_by_one_the_header_first() {
        let text = b"name,note\na,\"x, \"\"y\"\"\nz\"\nb\n";
        let rows: [&[&str]; 3] = [&["name", "note"], &["a", "x, \"y\"\nz"], &["b"]];
        assert_eq!(records(text, Dialect::default(), 1 << 20).expect("fits"), rows);
        let header = Dialect { header: true, ..Dialect::default() };
        let rows: [&[&str]; 3] = [&["header", "name", "note"], &["a", "x, \"y\"\nz"], &["b"]];
        assert_eq!(records(text, header, 1 << 20).expect("fits"), rows);
    }

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let encode = |rows: &Value, dialect| encode(rows, dialect, 1 << 20);
        let rows = json!([["a", "b,c", "d\"e"], [1, null, true], [], [null]]);
        assert_eq!(
            encode(&rows, Dialect::default()),
            Ok(b"a,\"b,c\",\"d\"\"e\"\n1,,true\n\"\"\n\"\"\n".to_vec()),
        );
        let rows = json!([{"x": 1, "y": 2}, {"y": 3, "z": 4}]);
        let semicolon = Dialect { delimiter: b';', ..Dialect::default() };
        assert_eq!(encode(&rows, semicolon), Ok(b"x;y;z\n1;2;\n;3;4\n".to_vec()));
        for wrong in [json!({}), json!([1]), json!([[{}]])] {
            assert!(encode(&wrong, Dialect::default()).is_err());
        }
    }

    #[test]
    fn a_text_of_commas_is_bounded() {
        let commas = vec![b','; 100_000];
        let refused = records(&commas, Dialect::default(), 1 << 20);
        assert_eq!(refused, Err(ModuleError::TooLarge));
    }

    #[test]
    fn rows_times_names_are_bounded() {
        let rows: Value = (0..2_000).map(|n| json!({format!("k{n}"): n})).collect();
        let refused = encode(&rows, Dialect::default(), 1 << 20);
        assert_eq!(refused, Err(ModuleError::TooLong));
    }
}
