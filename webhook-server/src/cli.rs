//! The command line.

mod account;
mod backup;
mod check;
mod functions;
mod nodes;
mod shell;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, builder::Resettable};

use crate::{
    agent,
    config::{Config, memory},
    failure::Failure,
    manifest, mcp, openapi,
    print::print,
    service::{self, lifecycle, warnings},
    telemetry,
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
    Migrate {
        /// Gives PostgreSQL tables for each day, so that old logs go a day at once. No server may
        /// be running.
        #[arg(long)]
        by_day: bool,
    },
    /// Forwards a bucket's webhooks to a service on this machine.
    ///
    /// The credential is WEBHOOK_API_KEY: an API key, or an access token as
    /// key:secret.
    Forward(Box<agent::Forward>),
    /// Says why a webhook is where it is: what decided, and each attempt.
    ///
    /// The credential is WEBHOOK_API_KEY, as for forward.
    Explain(agent::Explain),
    /// Prints logs as they come and as they change, a line each.
    ///
    /// The credential is WEBHOOK_API_KEY, as for forward.
    Tail(Box<agent::Tail>),
    /// Sends many stored webhooks again: says which, asks, and shows how far it has come.
    ///
    /// It ends with 0 when everything was sent, with 3 when something failed again or the replay
    /// was cancelled, and with 130 when it is interrupted; the replay goes on then. The credential
    /// is WEBHOOK_API_KEY, as for forward.
    Replay(Box<agent::Replay>),
    /// Erases many stored webhooks: says how many, asks, and shows how far it has come.
    ///
    /// It ends with 0 when everything was erased, with 3 when something is left, and with 130 when
    /// it is interrupted; the erasure continues then. The credential is WEBHOOK_API_KEY, as for
    /// forward.
    Erase(Box<agent::Erase>),
    /// Functions of a running server.
    #[command(subcommand)]
    Functions(functions::Command),
    /// Says what is wrong with the configuration, without starting a server.
    ///
    /// Options, certificates, the data folder and the database are looked at, and nothing is
    /// changed. A server may be running with the same configuration.
    Check,
    /// Copies the SQLite database and the secret key to a folder; the server may be running.
    Backup(backup::Backup),
    /// Shows the servers that share the database: how long their leases last, and how many
    /// deliveries each holds.
    ///
    /// The servers may be running.
    Nodes,
    /// Puts a backup into an empty data folder.
    Restore(backup::Restore),
    /// Makes a server have what a file says: buckets, functions, domains and crons by name.
    ///
    /// What has another name stays, unless --prune says otherwise. The credential is
    /// WEBHOOK_API_KEY, as for forward.
    Apply(manifest::Apply),
    /// Prints what a server has, as a file for apply.
    Export(manifest::Export),
    /// Prints another service's export as a file for apply, and lists what cannot be carried over.
    Import(manifest::Import),
    /// Lets an assistant look at webhooks, over the Model Context Protocol on standard input and
    /// output.
    ///
    /// It reads only, unless --write is given. The credential is WEBHOOK_API_KEY, as for forward.
    Mcp(mcp::Mcp),
    /// Prints what a shell needs to complete this command line.
    Completions(shell::Completions),
    /// Prints the manual, as roff for man.
    Man(shell::Man),
    /// Accounts and their API keys. The server may be running: it takes what
    /// is changed from the next request on. Clients that are connected with a
    /// key that is replaced here are disconnected within 5 s.
    #[command(subcommand)]
    Account(account::Command),
}

/// The command line, where each command's help shows what means something to it. All
/// options are taken everywhere, so that one environment does for all commands.
fn command() -> clap::Command {
    let limit = memory::limit();
    let command = Cli::command().mut_args(|option| memory::fit(option, limit).global(true));
    let options: Vec<_> = command.get_arguments().cloned().collect();
    let storage = options.iter().find(|option| option.get_id() == "data_dir");
    let storage = storage.and_then(|option| option.get_help_heading()).map(str::to_owned);
    command.mut_subcommands(|command| match command.get_name() {
        "serve" | "check" => command,
        "forward" | "explain" | "tail" | "replay" | "erase" | "functions" | "apply" | "export"
        | "mcp" => with_options(command, &options, |option| {
            let is_key = option.get_id() == "api_key";
            let option = option.hide(!is_key);
            match is_key {
                true => option.alias("key").help_heading(Resettable::Reset).help(CREDENTIAL),
                false => option,
            }
        }),
        "account" | "migrate" | "nodes" | "backup" | "restore" => {
            with_options(command, &options, |option| {
                let is_shown = option.get_help_heading() == storage.as_deref();
                option.hide(!is_shown)
            })
        }
        _ => with_options(command, &options, |option| option.hide(true)),
    })
}

/// What the API key is to a command that talks to a server.
const CREDENTIAL: &str = "The credential: an API key, sk-…, or an access token, key:secret";

/// The command, and those below it, with each option in place of the general one.
fn with_options(
    command: clap::Command,
    options: &[clap::Arg],
    change: impl Fn(clap::Arg) -> clap::Arg + Copy,
) -> clap::Command {
    let command = command.args(options.iter().cloned().map(change));
    command.mut_subcommands(|command| with_options(command, options, change))
}

/// Does what the command line says.
pub(crate) fn run() -> ExitCode {
    let matches = command().get_matches();
    let shown = warnings::secrets_on_command_line(&matches, &Cli::command());
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    match dispatch(cli, shown) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("webhook-server: {failure}");
            failure.code().into()
        }
    }
}

fn dispatch(cli: Cli, mut warnings: Vec<String>) -> Result<(), Failure> {
    let Cli { command, config } = cli;
    // Those that need neither the configuration nor a log.
    let command = match command.unwrap_or(Command::Serve) {
        Command::Openapi => return print(&format!("{}\n", openapi::document_text(None)?)),
        Command::Import(options) => return manifest::import_file(options),
        Command::Completions(options) => return shell::completions(&options, self::command()),
        Command::Man(options) => return shell::man(&options, self::command()),
        command => command,
    };
    if !matches!(command, Command::Check) {
        config.validate()?;
    }
    let log = telemetry::start_log(&config.log)?;
    let unknown = warnings::of_environment(&Cli::command());
    warnings.extend_from_slice(&unknown);
    warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::io("cannot start the runtime", error))?;
    let done = runtime.block_on(async {
        match command {
            Command::Serve => lifecycle::serve(config).await,
            Command::Migrate { by_day } => service::migrate(&config.storage, by_day).await,
            Command::Account(command) => account::run(command, &config).await,
            Command::Forward(options) => agent::run(*options, config.storage.api_key).await,
            Command::Explain(options) => agent::explain(options, config.storage.api_key).await,
            Command::Tail(options) => agent::tail(*options, config.storage.api_key).await,
            Command::Replay(options) => agent::replay(*options, config.storage.api_key).await,
            Command::Erase(options) => agent::erase(*options, config.storage.api_key).await,
            Command::Functions(command) => functions::run(command, config.storage.api_key).await,
            Command::Apply(options) => manifest::apply(options, config.storage.api_key).await,
            Command::Export(options) => manifest::export(options, config.storage.api_key).await,
            Command::Mcp(options) => mcp::run(options, config.storage.api_key).await,
            Command::Check => check::run(&config, unknown).await,
            Command::Nodes => nodes::run(&config.storage).await,
            Command::Backup(options) => backup::back_up(options, &config.storage).await,
            Command::Restore(options) => backup::restore(options, &config.storage).await,
            Command::Openapi | Command::Import(_) | Command::Completions(_) | Command::Man(_) => {
                Ok(())
            }
        }
    });
    // What did not end within the shutdown timeout is not waited for.
    runtime.shutdown_background();
    log.flush();
    done
}
