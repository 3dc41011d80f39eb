//! Rows of a text of comma-separated values as JSON, which the engine reads.

use csv::ByteRecord;

use crate::modules::{ModuleError, Output, csv::Rows};

/// Writes a list of lists, or of objects where there is a header.
pub(super) struct JsonRows {
    out: Output,
    /// The names of the fields as JSON.
    names: Option<Vec<String>>,
}

impl JsonRows {
    pub(super) const fn of_at_most(bytes: usize) -> Self {
        Self { out: Output::of_at_most(bytes), names: None }
    }

    /// The list; when it is too long, so is what the engine would make of it.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, ModuleError> {
        self.push(if self.out.len() == 0 { b"[]" } else { b"]" })?;
        self.out.finish()
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), ModuleError> {
        self.out.push(bytes).map_err(|_| ModuleError::TooLarge)
    }

    fn push_text(&mut self, field: &[u8]) -> Result<(), ModuleError> {
        let field = String::from_utf8_lossy(field);
        self.out.push_json(&*field).map_err(|_| ModuleError::TooLarge)
    }

    fn write_row(
        &mut self,
        fields: &ByteRecord,
        names: Option<&[String]>,
    ) -> Result<(), ModuleError> {
        self.push(if self.out.len() == 0 { b"[" } else { b"," })?;
        self.push(if names.is_some() { b"{" } else { b"[" })?;
        let count = names.map_or(fields.len(), <[String]>::len);
        for (index, field) in fields.iter().take(count).enumerate() {
            self.push(if index > 0 { b"," } else { b"" })?;
            if let Some(name) = names.and_then(|names| names.get(index)) {
                self.push(name.as_bytes())?;
                self.push(b":")?;
            }
            self.push_text(field)?;
        }
        self.push(if names.is_some() { b"}" } else { b"]" })
    }
}

impl Rows for JsonRows {
    fn header(&mut self, names: &ByteRecord) -> Result<(), ModuleError> {
        let name = |name| serde_json::Value::from(String::from_utf8_lossy(name)).to_string();
        self.names = Some(names.iter().map(name).collect());
        Ok(())
    }

    fn row(&mut self, fields: &ByteRecord) -> Result<(), ModuleError> {
        let names = self.names.take();
        let written = self.write_row(fields, names.as_deref());
        self.names = names;
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::csv::{Dialect, decode};

    fn rows(text: &str, header: bool, most: usize) -> Result<String, ModuleError> {
        let mut rows = JsonRows::of_at_most(most);
        decode(text.as_bytes(), Dialect { header, ..Dialect::default() }, 1 << 20, &mut rows)?;
        Ok(String::from_utf8(rows.finish()?).expect("UTF-8"))
    }

    #[test]
    fn rows_are_lists_or_objects() {
        let text = "name,note\na,\"x, \"\"y\"\"\nz\"\nb\n";
        let lists = r#"[["name","note"],["a","x, \"y\"\nz"],["b"]]"#;
        assert_eq!(rows(text, false, 100).as_deref(), Ok(lists));
        let objects = r#"[{"name":"a","note":"x, \"y\"\nz"},{"name":"b"}]"#;
        assert_eq!(rows(text, true, 100).as_deref(), Ok(objects));
        assert_eq!(rows("", false, 100).as_deref(), Ok("[]"));
        assert_eq!(rows("name", true, 100).as_deref(), Ok("[]"));
    }

    #[test]
    fn names_times_rows_are_bounded() {
        let text = format!("{}\n{}", "n".repeat(1_000), "a\n".repeat(1_000));
        assert_eq!(rows(&text, true, 100_000), Err(ModuleError::TooLarge));
    }
}
