//! Counts that are appended, and folded into `tally` later.

/// A row has the changes of one transaction, as [`fold`](crate::fold) writes them. The table is
/// read whole and emptied whole, and has no index besides its key.
pub(super) const SCHEMA: &str = r#"
CREATE TABLE tally_delta (
    id {numbered},
    changes {bytes} NOT NULL
) {table};
"#;
