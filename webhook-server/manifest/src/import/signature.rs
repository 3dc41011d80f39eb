//! What sources verify, as `signature` of an input: who does not show it gets 401.

use serde_json::{Value, json};
use webhook_core::model::{SignatureSpec, signatures::presets};

/// An HMAC of the body in a header.
pub(super) fn hmac(header: &str, hash: &str, encoding: &str, secret: &str) -> Option<Value> {
    let encoding = if encoding.is_empty() { "hex" } else { encoding };
    usable(
        json!({
            "provider": "hmac",
            "header": header,
            "algorithm": format!("hmac-{}", hash.to_ascii_lowercase()),
            "encoding": encoding.to_ascii_lowercase(),
        }),
        secret,
    )
}

/// A key in a header.
pub(super) fn api_key(header: &str, key: &str) -> Option<Value> {
    let signature = json!({"source": "header", "name": header});
    let scheme = json!({"signature": signature, "algorithm": "token"});
    usable(json!({"provider": "custom", "scheme": scheme}), key)
}

/// What a provider signs that is known here by this name, as other services spell it.
pub(super) fn preset(name: &str, secret: &str) -> Option<Value> {
    let name = name.to_ascii_lowercase().replace('-', "_");
    let known = presets().iter().find(|preset| preset.name == name)?;
    usable(json!({ "provider": known.name }), secret)
}

/// The signature with its secret, unless a server would refuse it.
fn usable(mut signature: Value, secret: &str) -> Option<Value> {
    signature["secrets"] = json!([{ "secret": secret }]);
    let spec: SignatureSpec = serde_json::from_value(signature.clone()).ok()?;
    let is_usable = !secret.trim().is_empty() && spec.verifier().is_ok();
    is_usable.then_some(signature)
}
