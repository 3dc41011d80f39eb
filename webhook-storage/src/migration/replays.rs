//! Replays, and which logs they made.

/// `wakes_at` is when it was made or resumed, or the end of the hold while `held_by` has it; what
/// does not run has none. The indexes of deliveries have nothing of what no replay made, and
/// an outcome changes the second one alone.
pub(super) const SCHEMA: &str = r#"
CREATE TABLE replay (
    id {uuid} PRIMARY KEY NOT NULL,
    account_id {uuid} NOT NULL,
    bucket_id {uuid},
    status {text} NOT NULL,
    error {text} NOT NULL,
    total {int},
    outputs {text} NOT NULL,
    skipped {int} NOT NULL,
    created_at {int} NOT NULL,
    finished_at {int},
    place {text} NOT NULL,
    spec {text} NOT NULL,
    held_by {uuid},
    wakes_at {int}
) {table};
CREATE INDEX replay_of_account ON replay (account_id, id);
CREATE INDEX replay_awake ON replay (wakes_at) WHERE wakes_at IS NOT NULL;
ALTER TABLE delivery ADD COLUMN replay_id {uuid};
ALTER TABLE delivery ADD COLUMN replay_of {uuid};
CREATE INDEX delivery_of_replay ON delivery (replay_id) WHERE replay_id IS NOT NULL;
CREATE INDEX delivery_replay_waiting ON delivery (replay_id, output_id)
    WHERE replay_id IS NOT NULL AND due_at IS NOT NULL;
"#;
