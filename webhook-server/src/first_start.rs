//! What the first start makes: an account, its API key, and with `--dev` a
//! bucket to try things with.

use std::{fmt::Write, net::SocketAddr};

use webhook_core::{
    admin::{Admin, Caller},
    model::{Account, BucketSpec},
};

use crate::{config::Config, dev, failure::Failure};

/// The name of the first account.
const ACCOUNT: &str = "default";
/// The name of the bucket that `--dev` makes.
const BUCKET: &str = "first-bucket";

/// Makes what is missing, and returns what the operator is to be shown.
pub(crate) async fn prepare(
    admin: &Admin,
    config: &Config,
    bound: SocketAddr,
) -> Result<Option<String>, Failure> {
    let accounts = admin.accounts().await?;
    match accounts.first() {
        None => first(admin, config, bound).await.map(Some),
        Some(account) => again(admin, config, account).await,
    }
}

async fn first(admin: &Admin, config: &Config, bound: SocketAddr) -> Result<String, Failure> {
    let chosen = config.storage.api_key.clone();
    let was_chosen = chosen.is_some();
    let (account, key) = admin.create_account(ACCOUNT, chosen).await?;
    let key = key.key.expose();

    let mut notice = String::new();
    if !was_chosen {
        let _ = writeln!(notice, "API key, shown only this once: {key}");
    }
    if config.listen.dev {
        let caller = Caller::for_account(account.id);
        let spec = BucketSpec { name: BUCKET.to_owned(), ..BucketSpec::default() };
        let bucket = admin.create_bucket(&caller, spec).await?;
        let input = bucket.inputs.first().map(|input| input.id.to_string()).unwrap_or_default();
        let base = format!("{}://{bound}", config.tls.scheme());
        let public = config.listen.public_url.as_deref().unwrap_or(&base).trim_end_matches('/');
        let inbox = dev::INBOX_PATH;
        let received = dev::RECEIVED_PATH;
        let _ = write!(
            notice,
            "\nTry it: copy these commands into another terminal, one after the other. They give \
             the bucket an output,\nsend a webhook, and show what arrived at the output's \
             destination, which is this server's own {inbox}.\n\n\
             curl -sS -w '\\n' -H 'Authorization: Bearer {key}' -d '{{\"name\":\"inbox\",\
             \"destination\":\"{base}{inbox}\"}}' {base}/v1/buckets/{id}/outputs\n\
             curl -sS -w '\\n' -H 'Content-Type: application/json' -d '{{\"hello\":\"world\"}}' \
             {public}/v1/webhooks/{input}\n\
             curl -sS {base}{received}\n\n\
             The reference is at {base}/docs\n",
            id = bucket.id,
        );
    }
    Ok(notice)
}

async fn again(
    admin: &Admin,
    config: &Config,
    account: &Account,
) -> Result<Option<String>, Failure> {
    if let Some(chosen) = &config.storage.api_key {
        let before = admin.api_key(&Caller::for_account(account.id)).await?;
        if before.key != *chosen {
            admin.set_api_key(account.id, chosen.clone()).await?;
            tracing::warn!("the first account's API key is WEBHOOK_API_KEY from now on");
        }
    }
    Ok(config.listen.dev.then(|| {
        format!(
            "The API key was shown at the first start; `webhook-server account rotate-key {}` \
             makes another one.\n",
            account.name
        )
    }))
}
