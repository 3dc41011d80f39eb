//! What outputs sign and authenticate with.

use webhook_wire::{ExtensionObject, Secret};

use crate::{AuthSpec, SigningSpec};

type Replace<'a> = &'a mut dyn FnMut(&str, &str) -> Option<String>;

fn replace_in(secret: &mut Secret, place: &str, replace: Replace<'_>) {
    if let Some(text) = replace(place, secret.expose()) {
        *secret = Secret::new(text);
    }
}

impl ExtensionObject for SigningSpec {
    fn replace_secrets(&mut self, replace: Replace<'_>) {
        for (at, it) in self.secrets.iter_mut().enumerate() {
            replace_in(&mut it.secret, &format!("secrets[{at}].secret"), replace);
        }
    }
}

impl ExtensionObject for AuthSpec {
    fn replace_secrets(&mut self, replace: Replace<'_>) {
        for (place, secret) in [
            ("password", &mut self.password),
            ("token", &mut self.token),
            ("value", &mut self.value),
            ("client_secret", &mut self.client_secret),
            ("secret_access_key", &mut self.secret_access_key),
            ("session_token", &mut self.session_token),
            ("service_account", &mut self.service_account),
        ] {
            replace_in(secret, place, replace);
        }
    }
}
