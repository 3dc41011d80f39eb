//! The table of providers.

use webhook_signatures::{Invalid, Secret, presets};

use crate::common::{SecretSpec, SignatureSpec};

/// A secret that the provider's scheme can read, and parameters.
pub(crate) fn filled(name: &str) -> SignatureSpec {
    let preset = presets().iter().find(|preset| preset.name == name).expect("a preset");
    let mut spec = SignatureSpec { provider: name.to_owned(), ..SignatureSpec::default() };
    for field in &preset.fields {
        match field.name.split_once('.') {
            Some(("parameters", parameter)) => {
                spec.parameters.insert(parameter.to_owned(), Secret::new("production"));
            }
            _ if field.name == "secret" => {
                let secret = match (preset.algorithm.as_str(), name) {
                    ("ed25519", "discord") => "ab".repeat(32),
                    ("ed25519", _) => format!("whpk_{}=", "A".repeat(43)),
                    ("basic", _) => "user:password".to_owned(),
                    ("ecdsa-p256-sha256", _) => {
                        "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==".to_owned()
                    }
                    _ => "abcd".repeat(8),
                };
                spec.secrets.push(SecretSpec { secret: Secret::new(secret), expires_at: None });
            }
            _ => {}
        }
    }
    spec
}

#[test]
fn there_are_as_many_as_said_and_all_can_be_used() {
    assert!(presets().len() >= 55, "{}", presets().len());
    for preset in presets() {
        let spec = filled(&preset.name);
        spec.verifier().unwrap_or_else(|invalid| panic!("{}: {invalid}", preset.name));
        assert!(preset.docs.starts_with("https://"), "{}", preset.name);
        assert!(!preset.title.is_empty() && !preset.header.is_empty(), "{}", preset.name);
        // The names of the interface are lower-case words.
        let is_word = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        assert!(preset.name.bytes().all(is_word), "{}", preset.name);
    }
    assert!(presets().is_sorted_by_key(|preset| &preset.name));
}

#[test]
fn a_preset_is_written_in_the_language_of_custom() {
    for preset in presets() {
        let json = serde_json::to_string(&preset.scheme).expect("is JSON");
        let read = serde_json::from_str(&json).expect("is a scheme");
        assert_eq!(preset.scheme, read, "{}", preset.name);
        let spec = SignatureSpec {
            provider: "custom".to_owned(),
            scheme: Some(read),
            ..filled(&preset.name)
        };
        spec.verifier().unwrap_or_else(|invalid| panic!("{}: {invalid}", preset.name));
    }
}

#[test]
fn what_a_provider_requires_is_asked_for() {
    for preset in presets() {
        for field in preset.fields.iter().filter(|field| field.required) {
            let mut spec = filled(&preset.name);
            let named = match field.name.split_once('.') {
                Some((_, parameter)) => {
                    spec.parameters.remove(parameter);
                    field.name.clone()
                }
                None => {
                    spec.secrets.clear();
                    "secrets".to_owned()
                }
            };
            let Invalid { field, reason } = spec.verifier().expect_err(&preset.name);
            assert_eq!(field, named, "{}: {reason}", preset.name);
        }
    }
}

/// What was promised: a preset that goes, or is called something else, is a break.
#[test]
fn none_of_the_promised_providers_is_missing() {
    let promised = [
        "standard_webhooks standard_webhooks_ed25519 svix clerk resend openai replicate github gitlab",
        "gitlab_signing bitbucket gitea forgejo gogs stripe shopify slack twilio sendgrid mailgun postmark",
        "paypal square zoom discord hubspot hubspot_v1 hubspot_v2 linear intercom zendesk typeform",
        "docusign dropbox adyen paddle okta auth0 calendly notion vercel webflow woocommerce elevenlabs",
        "fusionauth chargebee cal_com cursor pagerduty grafana grafana_timestamp terraform_cloud aws_sns",
        "meta whatsapp x plaid xero trello asana jira sentry razorpay mux upsun deepgram hookdeck outpost",
        // Those with a handshake.
        "strava websub microsoft_graph nylas adobe_io adobe_sign event_grid cloudevents twitch monday linkedin",
    ];
    for name in promised.iter().flat_map(|line| line.split(' ')) {
        assert!(presets().iter().any(|preset| preset.name == name), "{name}");
    }
}
