//! Which server a command talks to, and as whom.

use http::Uri;
use webhook_core::model::Secret;

use super::{
    api::{Api, Credential},
    check_url,
};
use crate::failure::Failure;

/// Which server.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Access {
    /// The server.
    #[arg(long, alias = "server", env = "WEBHOOK_SERVER_URL", value_name = "URL")]
    #[arg(default_value = "http://127.0.0.1:8080")]
    server_url: Uri,
}

impl Access {
    /// Its API, for whoever has this credential.
    pub(crate) fn api(&self, key: Option<Secret>) -> Result<Api, Failure> {
        let key =
            key.ok_or_else(|| Failure::new("no credential: set WEBHOOK_API_KEY or --api-key"))?;
        let credential = Credential::parse(&key)?;
        check_url("WEBHOOK_SERVER_URL", &self.server_url)?;
        Api::new(&self.server_url, credential)
    }
}
