//! What the cookie holds, encrypted.

use std::fmt;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    rand::{SecureRandom, SystemRandom},
};
use serde::{Deserialize, Serialize};
use webhook_core::Error;

/// What the seal is for: nothing else that this key may have sealed is a session.
const PURPOSE: &[u8] = b"webhook-dashboard session 2";

/// 32 secret bytes that seal sessions. `Debug` does not show them.
#[derive(Clone)]
pub struct SessionKey([u8; 32]);

impl SessionKey {
    /// A key of these bytes, which are random and used for nothing else.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionKey(…)")
    }
}

/// What a browser shows: the session that the store knows, and the credential that it signed in
/// with.
///
/// The credential itself is in it, because the stores find an access token by its key and
/// secret. It is encrypted, and of no use to who has no key of this server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ticket {
    /// The token's key, or what stands there for API keys.
    #[serde(rename = "k")]
    pub(crate) key: String,
    /// The token's secret, or the API key.
    #[serde(rename = "s")]
    pub(crate) secret: String,
    /// The secret identifier of the session.
    #[serde(rename = "i")]
    pub(crate) id: String,
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ticket(…)")
    }
}

/// Seals sessions with AES-256-GCM.
pub(crate) struct Seal(Option<LessSafeKey>);

impl Seal {
    pub(crate) fn new(key: &SessionKey) -> Self {
        Self(UnboundKey::new(&AES_256_GCM, &key.0).ok().map(LessSafeKey::new))
    }

    /// The cookie's value: a random nonce and the sealed text, as base64url.
    pub(crate) fn seal(&self, ticket: &Ticket) -> Result<String, Error> {
        let failed = || Error::internal("sealing a session failed");
        let key = self.0.as_ref().ok_or_else(failed)?;
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).map_err(|_| failed())?;
        let mut text = serde_json::to_vec(ticket).map_err(Error::internal)?;
        key.seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(PURPOSE),
            &mut text,
        )
        .map_err(|_| failed())?;
        Ok(URL_SAFE_NO_PAD.encode([&nonce[..], &text].concat()))
    }

    /// What was sealed with this key; none for anything else.
    pub(crate) fn open(&self, value: &str) -> Option<Ticket> {
        let bytes = URL_SAFE_NO_PAD.decode(value).ok()?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut sealed = sealed.to_vec();
        let text = self.0.as_ref()?.open_in_place(nonce, Aad::from(PURPOSE), &mut sealed).ok()?;
        serde_json::from_slice(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket() -> Ticket {
        let [key, secret, id] = ["whr", "sk-secret", "an identifier"].map(str::to_owned);
        Ticket { key, secret, id }
    }

    #[test]
    fn only_this_key_opens_what_it_sealed() -> Result<(), Error> {
        let [seal, other] = [1, 2].map(|byte| Seal::new(&SessionKey::new([byte; 32])));
        let ticket = ticket();
        let sealed = seal.seal(&ticket)?;
        assert_eq!(seal.open(&sealed), Some(ticket.clone()));
        assert_ne!(seal.seal(&ticket)?, sealed, "no two are alike");
        assert_eq!(other.open(&sealed), None);
        for at in 0..sealed.len() {
            let mut changed = sealed.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).expect("ASCII");
            // The last character may carry bits that mean nothing.
            assert!(seal.open(&changed).is_none_or(|it| at + 1 == sealed.len() && it == ticket));
        }
        for nothing in ["", "A", "é", "AAAAAAAAAAAAAAAAAAAAAAAAAAAA"] {
            assert_eq!(seal.open(nothing), None);
        }
        Ok(())
    }

    #[test]
    fn secrets_are_not_shown() {
        let shown = format!("{:?}{:?}", ticket(), SessionKey::new([1; 32]));
        assert_eq!(shown, "Ticket(…)SessionKey(…)");
    }
}
