//! Where the secrets of a signature are.

use webhook_wire::ExtensionObject;

use crate::{Secret, SignatureSpec};

impl ExtensionObject for SignatureSpec {
    fn replace_secrets(&mut self, replace: &mut dyn FnMut(&str, &str) -> Option<String>) {
        let named = self.parameters.iter_mut().map(|(name, it)| (format!("parameters.{name}"), it));
        let listed = self.secrets.iter_mut().enumerate();
        let listed = listed.map(|(at, it)| (format!("secrets[{at}].secret"), &mut it.secret));
        for (place, secret) in listed.chain(named) {
            if let Some(text) = replace(&place, secret.expose()) {
                *secret = Secret::new(text);
            }
        }
    }
}
