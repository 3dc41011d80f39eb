//! Where large bodies go.

use std::{sync::Arc, time::Duration};

use webhook_core::{SystemClock, forward::http::HttpForwarder, guard::AddressGuard, model::Secret};
use webhook_storage::s3::{BucketUrl, S3, S3Options};

use super::{ConfigError, value};

const URL: &str = "WEBHOOK_OBJECTS_URL";
const REGION: &str = "WEBHOOK_OBJECTS_REGION";
const ACCESS_KEY_ID: &str = "WEBHOOK_OBJECTS_ACCESS_KEY_ID";
const SECRET_ACCESS_KEY: &str = "WEBHOOK_OBJECTS_SECRET_ACCESS_KEY";
const SESSION_TOKEN: &str = "WEBHOOK_OBJECTS_SESSION_TOKEN";

/// How long one request to the bucket may take. With its repetitions it takes no longer than
/// the storage waits.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Whether a byte may be in a text.
type MayBe = fn(u8) -> bool;

/// A bucket of S3, or of what speaks like it.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Large bodies")]
pub(crate) struct ObjectsConfig {
    /// The bucket that large bodies are kept in, such as https://endpoint/bucket/prefix (see
    /// docs/large-bodies.md). Without it they are in the database.
    #[arg(long, env = "WEBHOOK_OBJECTS_URL", value_name = "URL", value_parser = bucket)]
    pub(crate) objects_url: Option<BucketUrl>,
    /// The region of the bucket. What has no regions mostly takes this one.
    #[arg(long, env = "WEBHOOK_OBJECTS_REGION", default_value = "us-east-1")]
    #[arg(value_name = "REGION")]
    pub(crate) objects_region: String,
    /// The access key that may put, get and delete objects below WEBHOOK_OBJECTS_URL.
    #[arg(long, env = "WEBHOOK_OBJECTS_ACCESS_KEY_ID", value_name = "ID")]
    pub(crate) objects_access_key_id: Option<String>,
    /// The secret of the access key.
    #[arg(long, env = "WEBHOOK_OBJECTS_SECRET_ACCESS_KEY")]
    #[arg(value_name = "SECRET", value_parser = super::secret, hide_env_values = true)]
    pub(crate) objects_secret_access_key: Option<Secret>,
    /// The session's token of an access key that is temporary.
    #[arg(long, env = "WEBHOOK_OBJECTS_SESSION_TOKEN", hide_env_values = true)]
    #[arg(value_name = "TOKEN", value_parser = super::secret)]
    pub(crate) objects_session_token: Option<Secret>,
    /// Bodies that are longer are kept in the bucket.
    #[arg(long, env = "WEBHOOK_OBJECTS_MIN_BYTES", default_value = "256KiB")]
    #[arg(value_name = "SIZE", value_parser = value::bytes)]
    pub(crate) objects_min_bytes: usize,
}

impl ObjectsConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let id = self.objects_access_key_id.as_deref();
        let secret = self.objects_secret_access_key.as_ref().map(Secret::expose);
        if self.objects_url.is_none() {
            return match (id, secret) {
                (None, None) => Ok(()),
                _ => Err(ConfigError::new(URL, "must be set together with its access key")),
            };
        }
        let is_name: MayBe = |byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let is_graphic: MayBe = |byte| byte.is_ascii_graphic();
        let names = "must have only letters, digits, hyphens, dots and _";
        let graphic = "must have only visible ASCII characters";
        let token = self.objects_session_token.as_ref().map_or("-", Secret::expose);
        let together = "must be set together with WEBHOOK_OBJECTS_URL";
        // A secret in the wrong place would be shown. It is not repeated here.
        let parts: [(_, _, MayBe, _); 4] = [
            (REGION, Some(&*self.objects_region), is_name, names),
            (ACCESS_KEY_ID, id, is_name, names),
            (SECRET_ACCESS_KEY, secret, is_graphic, graphic),
            (SESSION_TOKEN, Some(token), is_graphic, graphic),
        ];
        for (option, text, may_be, reason) in parts {
            match text {
                None => return Err(ConfigError::new(option, together)),
                Some("") => return Err(ConfigError::new(option, "must not be empty")),
                Some(text) if !text.bytes().all(may_be) => {
                    return Err(ConfigError::new(option, reason));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// The bucket, if one is configured.
    pub(crate) fn bucket(&self) -> Option<S3> {
        let options = S3Options {
            url: self.objects_url.clone()?,
            region: self.objects_region.clone(),
            access_key_id: self.objects_access_key_id.clone().unwrap_or_default(),
            secret_access_key: self.objects_secret_access_key.clone().unwrap_or_default(),
            session_token: self.objects_session_token.clone(),
            timeout: TIMEOUT,
        };
        // The operator says where the bucket is, a customer does not.
        let forwarder = HttpForwarder::builder().guard(AddressGuard::allow_all()).build();
        Some(S3::new(options, Arc::new(forwarder), Arc::new(SystemClock)))
    }
}

fn bucket(text: &str) -> Result<BucketUrl, String> {
    text.parse().map_err(|error: webhook_core::Error| {
        let text = error.to_string();
        text.strip_prefix("url: ").unwrap_or(&text).to_owned()
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Options {
        #[command(flatten)]
        objects: ObjectsConfig,
    }

    fn problem(arguments: &[&str]) -> Option<String> {
        let arguments = std::iter::once("x").chain(arguments.iter().copied());
        let options = Options::try_parse_from(arguments).expect("options");
        options.objects.validate().err().map(|error| error.to_string())
    }

    #[test]
    fn what_does_not_fit_is_named() {
        assert_eq!(problem(&[]), None);
        let url = "--objects-url=http://localhost:9000/b";
        let (id, secret) = ("--objects-access-key-id=id", "--objects-secret-access-key=s3cret/+");
        assert_eq!(problem(&[url, id, secret]), None);
        assert!(problem(&[url]).is_some_and(|said| said.starts_with(ACCESS_KEY_ID)));
        assert!(problem(&[url, id]).is_some_and(|said| said.starts_with(SECRET_ACCESS_KEY)));
        assert!(problem(&[id, secret]).is_some_and(|said| said.starts_with(URL)));
        for (wrong, option) in [
            ("--objects-region=", REGION),
            ("--objects-region=a b", REGION),
            ("--objects-session-token=ü", SESSION_TOKEN),
        ] {
            let said = problem(&[url, id, secret, wrong]).expect(wrong);
            assert!(said.starts_with(option) && !said.contains("s3cret"), "{said}");
        }
        let said = problem(&[url, id, "--objects-secret-access-key=s3 cret"]).expect("a blank");
        assert!(said.starts_with(SECRET_ACCESS_KEY) && !said.contains("s3 cret"), "{said}");
    }
}
