//! The address of a bucket.

use std::{fmt, str::FromStr};

use http::Uri;
use webhook_core::Error;

/// Where a bucket is, path-style: `https://endpoint/bucket`, with a prefix of keys after it if
/// there is one, which ends at a `/`.
///
/// ```
/// use webhook_storage::s3::BucketUrl;
///
/// let url: BucketUrl = "http://localhost:9000/webhooks/prod/".parse()?;
/// assert_eq!(url.to_string(), "http://localhost:9000/webhooks/prod");
/// assert!("http://localhost:9000".parse::<BucketUrl>().is_err());
/// # Ok::<(), webhook_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketUrl(String);

impl BucketUrl {
    /// The address of an object.
    pub(crate) fn of(&self, key: &str) -> Result<Uri, http::uri::InvalidUri> {
        format!("{}/{key}", self.0).parse()
    }
}

impl FromStr for BucketUrl {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |reason: &str| Err(Error::invalid("url", reason));
        let Ok(url) = text.parse::<Uri>() else { return wrong("is no address") };
        if !matches!(url.scheme_str(), Some("http" | "https")) {
            return wrong("must start with http:// or https://");
        }
        if url.host().is_none_or(str::is_empty) {
            return wrong("has no host");
        }
        // It is not repeated: somebody may have put a password there.
        if url.authority().is_some_and(|it| it.as_str().contains('@')) {
            return wrong("must not have a user name or a password");
        }
        if text.contains(['?', '#']) {
            return wrong("must have neither ? nor #");
        }
        let text = text.trim_end_matches('/');
        let path = url.path().trim_end_matches('/');
        if path.is_empty() {
            return wrong("must have a bucket: https://endpoint/bucket");
        }
        if path.contains("//") {
            return wrong("must not have //");
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for BucketUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
