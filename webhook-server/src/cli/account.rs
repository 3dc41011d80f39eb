//! The operator's commands on accounts and their API keys.

use webhook_core::{
    admin::{Admin, Caller},
    model::ApiKey,
};
use webhook_storage::Storage;

use crate::{
    config::Config,
    failure::Failure,
    print::print,
    service::{self, first_start},
};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Makes an account and prints its API key.
    Create {
        /// What to call it.
        name: String,
    },
    /// Lists the accounts: ID, name, and whether the API key is accepted.
    List,
    /// Replaces the API key of an account and prints the new one.
    RotateKey {
        /// The account's ID or name.
        account: String,
    },
    /// Has the API key of an account accepted again after it was disabled.
    Enable {
        /// The account's ID or name.
        account: String,
    },
}

pub(crate) async fn run(command: Command, config: &Config) -> Result<(), Failure> {
    let (webhooks, storage) = service::webhooks(config).await?;
    let done = carry_out(command, webhooks.admin(), &storage).await;
    storage.close().await;
    done
}

async fn carry_out(command: Command, admin: &Admin, storage: &Storage) -> Result<(), Failure> {
    match command {
        Command::Create { name } => {
            let (account, key) = admin.create_account(&name, None).await?;
            print(&format!("account: {} {}\n", account.id, account.name))?;
            print_key(&key)
        }
        Command::List => {
            for account in admin.accounts().await? {
                let key = admin.api_key(&Caller::for_account(account.id)).await?;
                let state = if key.enabled { "enabled" } else { "disabled" };
                print(&format!("{} {} {state}\n", account.id, account.name))?;
            }
            Ok(())
        }
        Command::RotateKey { account } => {
            let account = admin.find_account(&account).await?;
            let is_first =
                admin.accounts().await?.first().map(|first| first.id) == Some(account.id);
            let key = admin.regenerate_api_key(&Caller::for_account(account.id)).await?;
            print_key(&key)?;
            match is_first {
                true => first_start::shown(storage).await,
                false => Ok(()),
            }
        }
        Command::Enable { account } => {
            let account = admin.find_account(&account).await?;
            admin.set_api_key_enabled(&Caller::for_account(account.id), true).await?;
            print(&format!("the API key of {} is enabled\n", account.name))
        }
    }
}

fn print_key(key: &ApiKey) -> Result<(), Failure> {
    print(&format!("API key, shown only this once: {}\n", key.key.expose()))
}
