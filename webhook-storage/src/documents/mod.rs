//! The store of documents: configured things, each with a version, and their states.
//!
//! | file | does |
//! |---|---|
//! | [`find`] | reads documents with their states, with one statement |
//! | [`row`] | reads and writes one row, and seals its secrets |
//! | [`apply`] | creates and updates |
//! | [`remove`] | removes documents with what goes with them |
//! | [`state`] | changes states |
//! | [`cancel`] | cancels the deliveries that wait for deleted outputs |
//! | [`counts`] | counts what an account has, and holds it to bounds |

mod apply;
pub(crate) mod cancel;
pub(crate) mod counts;
pub(crate) mod find;
mod remove;
pub(crate) mod row;
mod state;

use webhook_core::store::{ApplyError, Refusal};

pub(crate) use self::{
    apply::Applying,
    row::{INSERT, Raw, insert_former},
    state::create as insert_state,
};
use crate::fault::{DatabaseError, ErrorClass};

/// What an error of the database means to a writer of documents.
impl From<DatabaseError> for ApplyError {
    fn from(error: DatabaseError) -> Self {
        match error.class() {
            // The next try may succeed.
            ErrorClass::Interlocked => Refusal::Stale.into(),
            class => class.error(error, "document").into(),
        }
    }
}
