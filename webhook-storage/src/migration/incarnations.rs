//! Two processes under one name.

/// Which process of a node has its lease. A release before this one leaves a 0.
pub(super) const SCHEMA: &str =
    "ALTER TABLE node_lease ADD COLUMN incarnation {int} NOT NULL DEFAULT 0;";
