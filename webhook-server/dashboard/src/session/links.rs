//! The link that signs a person in who started the server.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    digest::{SHA256, digest},
    rand::{SecureRandom, SystemRandom},
};
use webhook_core::{AccountId, Error, Timestamp};

/// How long a link waits for its visitor.
const VALID: Duration = Duration::from_secs(60 * 60);

/// The one link that is open, by the digest of its token.
#[derive(Debug, Default)]
pub(crate) struct Links {
    open: Mutex<Option<Link>>,
}

#[derive(Debug)]
struct Link {
    digest: Vec<u8>,
    account: AccountId,
    made: Timestamp,
}

impl Links {
    /// The token of a new link.
    pub(crate) fn make(&self, account: AccountId, made: Timestamp) -> Result<String, Error> {
        let mut bytes = [0; 32];
        let filled = SystemRandom::new().fill(&mut bytes);
        filled.map_err(|_| Error::internal("the system's source of randomness failed"))?;
        let token = URL_SAFE_NO_PAD.encode(bytes);
        let link = Link { digest: hash(&token), account, made };
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = Some(link);
        Ok(token)
    }

    /// Whom the link signs in; it is used up then. Digests of 256 random bits may be
    /// compared in any time.
    pub(crate) fn take(&self, token: &str, now: Timestamp) -> Option<AccountId> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let link = open.take_if(|link| link.digest == hash(token))?;
        (now.since(link.made) < VALID).then_some(link.account)
    }
}

fn hash(token: &str) -> Vec<u8> {
    digest(&SHA256, token.as_bytes()).as_ref().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_for_one_visitor_within_an_hour() -> Result<(), Error> {
        let (links, start) = (Links::default(), Timestamp::from_secs(1_700_000_000));
        let account = AccountId::generate();
        let token = links.make(account, start)?;
        assert_eq!(links.take("other", start), None);
        assert_eq!(links.take(&token, start), Some(account));
        assert_eq!(links.take(&token, start), None, "it is used up");
        let token = links.make(account, start)?;
        assert_eq!(links.take(&token, start + VALID), None, "it is too old");
        Ok(())
    }
}
