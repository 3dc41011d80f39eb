//! Stretches of time with logs in them.

use sea_orm::prelude::Uuid;
use webhook_core::{Timestamp, store::LogCursor};

use crate::{entity::millis, tx::Param};

/// Which end of a range comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    OldestFirst,
    NewestFirst,
}

impl Direction {
    pub(super) const fn sql(self) -> &'static str {
        match self {
            Self::OldestFirst => "created_at, id",
            Self::NewestFirst => "created_at DESC, id DESC",
        }
    }
}

/// The logs between two places, neither of which belongs to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    after: (i64, Uuid),
    before: (i64, Uuid),
}

impl Range {
    pub(crate) const ALL: Self =
        Self { after: (i64::MIN, Uuid::nil()), before: (i64::MAX, Uuid::max()) };

    /// Only what was stored at or after this moment.
    pub(crate) fn from(mut self, from: Option<Timestamp>) -> Self {
        // No log has the greatest ID.
        let from = from.map(|from| (millis(from).saturating_sub(1), Uuid::max()));
        self.after = from.map_or(self.after, |from| self.after.max(from));
        self
    }

    /// Only what was stored before this moment.
    pub(crate) fn to(mut self, to: Option<Timestamp>) -> Self {
        let to = to.map(|to| (millis(to), Uuid::nil()));
        self.before = to.map_or(self.before, |to| self.before.min(to));
        self
    }

    pub(crate) fn after(mut self, cursor: Option<LogCursor>) -> Self {
        self.after = cursor.map_or(self.after, |cursor| self.after.max(place(cursor)));
        self
    }

    pub(crate) fn before(mut self, cursor: Option<LogCursor>) -> Self {
        self.before = cursor.map_or(self.before, |cursor| self.before.min(place(cursor)));
        self
    }

    /// The values of [`RANGE`].
    pub(super) fn values(self) -> [Param<'static>; 4] {
        let Self { after, before } = self;
        [after.0.into(), after.1.into(), before.0.into(), before.1.into()]
    }
}

/// What limits a query to a range.
pub(super) const RANGE: &str = "(created_at, id) > (?, ?) AND (created_at, id) < (?, ?)";

fn place(cursor: LogCursor) -> (i64, Uuid) {
    (millis(cursor.created_at), cursor.id.as_uuid())
}
