//! The extension fields of a row, sealed together: an object of JSON by their names.

use serde_json::{Map, Value};
use webhook_core::{
    Error,
    model::{Extension, ExtensionObject},
};

use crate::{
    fault::Row,
    secret::{Cell, Vault},
};

/// The column that they are in, of inputs and of outputs.
pub(crate) const COLUMN: &str = "extensions_sealed";

/// The extension fields of one row; those that are not set are not there.
#[derive(Debug, Default)]
pub(crate) struct Extensions(Map<String, Value>);

impl Extensions {
    pub(crate) fn put<T: ExtensionObject>(
        &mut self,
        name: &'static str,
        field: &Extension<T>,
    ) -> Result<(), Error> {
        if let Some(object) = field.set() {
            // Of the object itself, whose secrets are not masked.
            let json = serde_json::to_value(object).map_err(Error::internal)?;
            self.0.insert(name.to_owned(), json);
        }
        Ok(())
    }

    /// What is stored in `cell`: nothing where no field is set.
    pub(crate) fn seal(self, vault: &Vault, cell: Cell<'_>) -> Result<Option<Vec<u8>>, Error> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let json = serde_json::to_vec(&self.0).map_err(Error::internal)?;
        vault.seal(cell, &json).map(Some)
    }

    /// What [`seal`](Self::seal) stored.
    pub(crate) fn open(vault: &Vault, row: Row, sealed: Option<&[u8]>) -> Result<Self, Error> {
        let Some(sealed) = sealed else { return Ok(Self::default()) };
        let json = vault.open(Cell::new(row.table, COLUMN, row.id), sealed)?;
        row.read(COLUMN, serde_json::from_slice(&json)).map(Self)
    }

    pub(crate) fn take<T: ExtensionObject>(
        &mut self,
        row: Row,
        name: &'static str,
    ) -> Result<Extension<T>, Error> {
        match self.0.remove(name) {
            Some(json) => row.read(COLUMN, serde_json::from_value(json)).map(Extension::Set),
            None => Ok(Extension::Absent),
        }
    }

    /// Fails if there is one that nobody took: a later version may verify by it, and to go
    /// on without would let everything pass.
    pub(crate) fn finish(self, row: Row) -> Result<(), Error> {
        let none_left = self.0.is_empty().then_some(()).ok_or("an unknown extension field");
        row.read(COLUMN, none_left)
    }
}
