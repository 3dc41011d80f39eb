//! What verifies the webhooks of an input, compiled once for each snapshot of its bucket.

use std::sync::Arc;

use quick_cache::sync::Cache;

use crate::{
    error::Error,
    id::InputId,
    model::{Bucket, Input, signatures::Verifier},
};

/// A verifier, and the snapshot that it was compiled from.
type Compiled = (Arc<Bucket>, Arc<Verifier>);

/// Verifiers by their inputs, at most so many.
#[derive(Debug)]
pub(crate) struct VerifierCache {
    by_input: Cache<InputId, Compiled>,
}

impl VerifierCache {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { by_input: Cache::new(capacity) }
    }

    /// What verifies the webhooks of an input of this bucket; none when nothing does.
    ///
    /// # Errors
    /// [`Internal`](crate::ErrorKind::Internal): what is stored cannot be compiled, though it
    /// could when it was saved. The input takes nothing then, rather than everything.
    pub(crate) fn of(
        &self,
        bucket: &Arc<Bucket>,
        input: &Input,
    ) -> Result<Option<Arc<Verifier>>, Error> {
        let Some(spec) = input.spec.signature.set().filter(|spec| spec.enabled) else {
            return Ok(None);
        };
        let same = |(snapshot, _): &Compiled| Arc::ptr_eq(snapshot, bucket);
        if let Some((_, verifier)) = self.by_input.get(&input.id).filter(same) {
            return Ok(Some(verifier));
        }
        let verifier = Arc::new(spec.verifier().map_err(Error::internal)?);
        self.by_input.insert(input.id, (Arc::clone(bucket), Arc::clone(&verifier)));
        Ok(Some(verifier))
    }
}
