//! The command line.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::{
    account, agent,
    config::{Config, unknown_variables},
    cores,
    failure::Failure,
    lifecycle, openapi,
    print::print,
    service, telemetry,
};

/// Receives webhooks, keeps them, and forwards them.
#[derive(Debug, Parser)]
#[command(name = "webhook-server", version, about)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    config: Config,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs the server; what happens without a command, too.
    Serve,
    /// Prints the OpenAPI document.
    Openapi,
    /// Brings the database up to date and exits.
    Migrate,
    /// Forwards a bucket's webhooks to a service on this machine.
    ///
    /// The credential is WEBHOOK_API_KEY: an API key, or an access token as
    /// key:secret.
    Forward(Box<agent::Forward>),
    /// Accounts and their API keys. The server may be running: it takes what
    /// is changed from the next request on. Clients that are connected with a
    /// key stay connected when it is replaced here.
    #[command(subcommand)]
    Account(account::Command),
}

/// Does what the command line says.
pub(crate) fn run() -> ExitCode {
    let cli = Cli::parse();
    match dispatch(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("webhook-server: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(cli: Cli) -> Result<(), Failure> {
    let Cli { command, config } = cli;
    let command = command.unwrap_or(Command::Serve);
    if matches!(command, Command::Openapi) {
        return print(&format!("{}\n", openapi::document_text()?));
    }
    config.validate()?;
    let log = telemetry::start_log(&config.log)?;
    for variable in unknown_variables() {
        tracing::warn!("{variable} is not an option of this server");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // Whoever starts one of its threads may be bound to a core.
        .on_thread_start(cores::roam)
        .build();
    let runtime = runtime.map_err(|error| Failure::io("cannot start the runtime", error))?;
    let done = runtime.block_on(async {
        match command {
            Command::Serve => lifecycle::serve(config).await,
            Command::Migrate => service::migrate(&config.storage).await,
            Command::Account(command) => account::run(command, &config).await,
            Command::Forward(options) => agent::run(*options, config.storage.api_key).await,
            Command::Openapi => Ok(()),
        }
    });
    // What did not end within the shutdown timeout is not waited for.
    runtime.shutdown_background();
    log.flush();
    done
}
