//! `check`: what is wrong with a configuration, without starting a server.

use crate::{
    config::Config,
    failure::Failure,
    listen::tls::Tls,
    print::print,
    service::{data_folder, warnings},
};

/// Says what is wrong, one line each with the option that it is about. It makes and changes
/// nothing, and a server may be running with the same configuration.
///
/// # Errors
/// When something is. A warning is printed, and is none.
pub(crate) async fn run(config: &Config, mut warnings: Vec<String>) -> Result<(), Failure> {
    let mut wrong: Vec<_> = config.problems().iter().map(ToString::to_string).collect();
    if wrong.is_empty()
        && let Err(failure) = Tls::check(&config.tls)
    {
        wrong.push(format!("WEBHOOK_TLS_CERT, WEBHOOK_TLS_KEY: {failure}"));
    }
    if let Err(failure) = data_folder::check(&config.storage).await {
        let option = match config.storage.database_url {
            Some(_) => "WEBHOOK_DATABASE_URL, WEBHOOK_DATA_DIR",
            None => "WEBHOOK_DATA_DIR",
        };
        wrong.push(format!("{option}: {failure}"));
    }
    warnings.extend(warnings::of_server(config));
    for warning in warnings {
        print(&format!("warning: {warning}\n"))?;
    }
    for line in &wrong {
        print(&format!("{line}\n"))?;
    }
    match wrong.len() {
        0 => print("the configuration can be used\n"),
        1 => Err(Failure::new("one thing is wrong with the configuration")),
        count => Err(Failure::new(format!("{count} things are wrong with the configuration"))),
    }
}
