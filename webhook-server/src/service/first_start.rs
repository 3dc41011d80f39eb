//! What the first start makes: an account, its API key, and with `--dev` a
//! bucket to try things with.

use std::{fmt::Write, net::SocketAddr};

use webhook_core::{
    admin::{Admin, Caller},
    model::{Account, ApiKey, Bucket, BucketSpec},
};
use webhook_storage::Storage;

use crate::{config::Config, failure::Failure, pages::dev};

/// The name of the first account.
const ACCOUNT: &str = "default";
/// The name of the bucket that `--dev` makes.
const BUCKET: &str = "first-bucket";

/// Makes what is missing, and returns what the operator is to be shown. Whether that has
/// happened is for [`shown`] to say: until then each start shows the key.
pub(crate) async fn prepare(
    admin: &Admin,
    storage: &Storage,
    config: &Config,
    bound: SocketAddr,
) -> Result<Option<String>, Failure> {
    let accounts = admin.accounts().await?;
    match accounts.first() {
        None => first(admin, storage, config, bound).await.map(Some),
        Some(account) => again(admin, storage, config, account, bound).await,
    }
}

/// Nobody has to be shown the key any more.
pub(crate) async fn shown(storage: &Storage) -> Result<(), Failure> {
    if storage.is_api_key_unshown().await? {
        storage.set_api_key_unshown(false).await?;
    }
    Ok(())
}

async fn first(
    admin: &Admin,
    storage: &Storage,
    config: &Config,
    bound: SocketAddr,
) -> Result<String, Failure> {
    let chosen = config.storage.api_key.clone();
    let is_known = chosen.is_some();
    // Before there is a key, so that no end of this process can hide it.
    if !is_known {
        storage.set_api_key_unshown(true).await?;
    }
    let (account, key) = admin.create_account(ACCOUNT, chosen).await?;
    if is_known {
        storage.set_api_key_applied(&key.key).await?;
    }
    welcome(admin, config, &account, &key, is_known, bound).await
}

/// The key, unless the operator knows it, and with `--dev` what to try.
async fn welcome(
    admin: &Admin,
    config: &Config,
    account: &Account,
    key: &ApiKey,
    is_known: bool,
    bound: SocketAddr,
) -> Result<String, Failure> {
    let key = key.key.expose();
    let mut notice = String::new();
    if !is_known {
        let _ = writeln!(notice, "API key, shown only this once: {key}");
    }
    if config.listen.dev {
        let bucket = first_bucket(admin, account).await?;
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
             curl -sS -i -H 'Content-Type: application/json' -d '{{\"hello\":\"world\"}}' \
             {public}/v1/webhooks/{input}\n\
             curl -sS {base}{received}\n\n\
             The reference is at {base}/docs\n",
            id = bucket.id,
        );
    }
    Ok(notice)
}

/// The bucket to try things with: the one that is there, when an earlier start got so far.
async fn first_bucket(admin: &Admin, account: &Account) -> Result<Bucket, Failure> {
    let caller = Caller::for_account(account.id);
    let known = admin.buckets(&caller).await?.into_iter().next();
    match known {
        Some(bucket) => Ok(bucket),
        None => Ok(admin.create_bucket(&caller, BucketSpec::new(BUCKET)).await?),
    }
}

async fn again(
    admin: &Admin,
    storage: &Storage,
    config: &Config,
    account: &Account,
    bound: SocketAddr,
) -> Result<Option<String>, Failure> {
    let caller = Caller::for_account(account.id);
    if let Some(chosen) = &config.storage.api_key {
        // A key that was replaced since is not brought back.
        if !storage.is_api_key_applied(chosen).await? {
            let before = admin.api_key(&caller).await?;
            if before.key != *chosen {
                admin.set_api_key(account.id, chosen.clone()).await?;
                tracing::warn!("the first account's API key is WEBHOOK_API_KEY from now on");
            }
            storage.set_api_key_applied(chosen).await?;
        }
        shown(storage).await?;
    } else if storage.is_api_key_unshown().await? {
        // Made as well, if the first start did not get so far.
        let key = admin.api_key(&caller).await?;
        return welcome(admin, config, account, &key, false, bound).await.map(Some);
    }
    Ok(config.listen.dev.then(|| {
        format!(
            "The API key was shown at the first start; `webhook-server account rotate-key {}` \
             makes another one.\n",
            account.name
        )
    }))
}
