//! Verifies GitHub's signatures in a program without a relay: `webhook-signatures` alone.
//!
//! ```text
//! cargo run -p examples --example verify_signatures
//! ```

use std::time::{SystemTime, UNIX_EPOCH};

use http::{HeaderMap, HeaderValue};
use ring::hmac;
use webhook_signatures::{Keys, Now, Request, Verdict, Verifier};

const SECRET: &str = "the secret that GitHub has";

#[expect(clippy::disallowed_methods, reason = "a program without a relay has no other clock")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let verifier = Verifier::preset("github").secret(SECRET).build()?;
    let now =
        Now::from_unix_seconds(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs().try_into()?);
    let body = br#"{"action":"opened"}"#;
    for (sender, secret) in [("GitHub", SECRET), ("somebody", "a guess")] {
        let mut headers = HeaderMap::new();
        headers.insert("x-hub-signature-256", signature(secret, body)?);
        let url = "https://hooks.example.com/github";
        let request = Request { method: "POST", url, raw_query: "", headers: &headers, body };
        // A scheme whose keys are published answers `NeedsKey`: fetch it, and ask again.
        match verifier.verify(&request, now, &Keys::new()) {
            Verdict::Verified { .. } => println!("{sender} is verified"),
            Verdict::Failed(reason) => println!("{sender} is refused: {reason}"),
            Verdict::NeedsKey(key) => println!("{} has the key", key.url),
        }
    }
    Ok(())
}

/// A signature as GitHub makes it.
fn signature(secret: &str, body: &[u8]) -> Result<HeaderValue, http::header::InvalidHeaderValue> {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), body);
    let hex: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    HeaderValue::try_from(format!("sha256={hex}"))
}
