//! Comma-separated values.

use csv::{ReaderBuilder, Terminator, WriterBuilder};
use serde_json::{Map, Value};

use super::{Bounds, ModuleError};

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

/// A list of rows. Rows may differ in length.
pub(crate) fn decode(
    data: &[u8],
    dialect: Dialect,
    mut bounds: Bounds,
) -> Result<Value, ModuleError> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(dialect.delimiter)
        .from_reader(data);
    let mut names: Option<Vec<String>> = None;
    let mut rows = Vec::new();
    for record in reader.byte_records() {
        let record = record.map_err(|error| ModuleError::invalid(format!("csv: {error}")))?;
        bounds.take()?;
        let mut fields = Vec::with_capacity(record.len());
        for field in &record {
            bounds.take()?;
            fields.push(String::from_utf8_lossy(field).into_owned());
        }
        match &names {
            None if dialect.header => names = Some(fields),
            None => rows.push(fields.into_iter().map(Value::String).collect()),
            Some(names) => {
                let fields = names.iter().cloned().zip(fields.into_iter().map(Value::String));
                rows.push(Value::Object(fields.collect()));
            }
        }
    }
    Ok(Value::Array(rows))
}

/// A list of lists, or a list of objects, whose names become the first row.
pub(crate) fn encode(value: &Value, dialect: Dialect) -> Result<Vec<u8>, ModuleError> {
    let Value::Array(rows) = value else {
        return Err(ModuleError::invalid("csv: expected a list of rows"));
    };
    let mut writer = WriterBuilder::new()
        .flexible(true)
        .delimiter(dialect.delimiter)
        .terminator(Terminator::Any(b'\n'))
        .from_writer(Vec::new());
    let mut write = |fields: Vec<String>| {
        writer.write_record(fields).map_err(|error| ModuleError::invalid(format!("csv: {error}")))
    };
    let names = names(rows);
    if !names.is_empty() {
        write(names.iter().map(|name| (*name).to_owned()).collect())?;
    }
    for row in rows {
        let fields = match row {
            Value::Array(fields) => fields.iter().map(plain).collect::<Result<Vec<_>, _>>()?,
            Value::Object(fields) => names
                .iter()
                .map(|name| fields.get(*name).map_or(Ok(String::new()), plain))
                .collect::<Result<Vec<_>, _>>()?,
            _ => return Err(ModuleError::invalid("csv: a row must be a list or a table")),
        };
        write(fields)?;
    }
    writer.into_inner().map_err(|error| ModuleError::invalid(format!("csv: {}", error.error())))
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

fn plain(value: &Value) -> Result<String, ModuleError> {
    match value {
        Value::Null => Ok(String::new()),
        Value::Bool(value) => Ok(value.to_string()),
        Value::Number(value) => Ok(value.to_string()),
        Value::String(value) => Ok(value.clone()),
        Value::Array(_) | Value::Object(_) => {
            Err(ModuleError::invalid("csv: a field must be a plain value"))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const BOUNDS: Bounds = Bounds::of_memory(1 << 20);

    #[test]
    fn rows_are_lists_or_objects() {
        let text = b"name,note\na,\"x, \"\"y\"\"\nz\"\nb\n";
        assert_eq!(
            decode(text, Dialect::default(), BOUNDS),
            Ok(json!([["name", "note"], ["a", "x, \"y\"\nz"], ["b"]])),
        );
        let header = Dialect { header: true, ..Dialect::default() };
        assert_eq!(
            decode(text, header, BOUNDS),
            Ok(json!([{"name": "a", "note": "x, \"y\"\nz"}, {"name": "b"}])),
        );
    }

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let rows = json!([["a", "b,c", "d\"e"], [1, null, true]]);
        assert_eq!(
            encode(&rows, Dialect::default()),
            Ok(b"a,\"b,c\",\"d\"\"e\"\n1,,true\n".to_vec()),
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
        assert_eq!(decode(&commas, Dialect::default(), BOUNDS), Err(ModuleError::TooLarge));
    }
}
