//! Who attempts the deliveries of outputs whose throttle holds over several nodes.

/// `former` is who owned the queue before, if it did not leave it; `started` has the moments of
/// the latest attempts, eight bytes each.
pub(super) const SCHEMA: &str = r#"
CREATE TABLE queue_owner (
    output_id {uuid} NOT NULL PRIMARY KEY,
    node_id {uuid},
    former {uuid},
    started {bytes} NOT NULL
) {narrow};
"#;
