//! Explains to people whether a signature is valid.

use super::checks::{Checker, MAX_FETCHES, now, signed, stored_url};
use crate::{
    error::Error,
    model::{
        Input, Request, SignatureCheck, Webhook,
        signatures::{self, Keys, Verdict},
    },
};

/// A request whose signature is checked for a caller.
#[derive(Debug)]
pub(crate) enum Asked<'a> {
    /// As it is stored: when it was signed does not count.
    Stored(&'a Webhook),
    /// As if it came at this moment, over TLS.
    Given(&'a Request),
}

impl Checker {
    /// What `input` says of this signature, also while verifying is switched off. Nothing is
    /// stored and nothing goes further.
    pub(in crate::relay) async fn explain(
        &self,
        input: &Input,
        asked: Asked<'_>,
        prefix: &str,
    ) -> Result<SignatureCheck, Error> {
        let Some(spec) = input.spec.signature.set() else {
            let reason = "the input has no signature".to_owned();
            let (secret_index, signed_bytes_preview) = (None, String::new());
            return Ok(SignatureCheck {
                verified: false,
                reason,
                secret_index,
                signed_bytes_preview,
            });
        };
        let verifier = spec.verifier().map_err(Error::internal)?;
        let (request, secure, time_counts) = match asked {
            Asked::Stored(webhook) => (&webhook.request, webhook.secure, false),
            Asked::Given(request) => (request, true, true),
        };
        let url = stored_url(request, secure, input, prefix);
        let request = signed(request, &url);
        let now = now(self.clock.now());
        let mut keys = Keys::new();
        let mut judged = Err(signatures::Reason::KeyUnavailable);
        for _ in 0..=MAX_FETCHES {
            let verdict = match time_counts {
                true => verifier.verify(&request, now, &keys),
                false => verifier.verify_ignoring_time(&request, now, &keys),
            };
            match verdict {
                Verdict::NeedsKey(wanted) => self.keys.fetch(wanted, &mut keys).await,
                Verdict::Verified { secret_index, .. } => {
                    judged = Ok(secret_index);
                    break;
                }
                Verdict::Failed(reason) => {
                    judged = Err(reason);
                    break;
                }
            }
        }
        let preview = verifier.preview(&request).unwrap_or_default();
        Ok(SignatureCheck {
            verified: judged.is_ok(),
            reason: judged.as_ref().err().map(ToString::to_string).unwrap_or_default(),
            secret_index: judged.ok().filter(|_| !spec.secrets.is_empty()),
            signed_bytes_preview: String::from_utf8_lossy(&preview).into_owned(),
        })
    }
}
