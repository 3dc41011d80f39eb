//! The commands that bring a function's source from a file to a server.

mod attempt;

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use webhook_core::model::{Driver, Secret};

use crate::{
    agent::{Access, one_line},
    failure::Failure,
    print::print,
};

/// Longer sources are refused by every server.
const MAX_SOURCE_BYTES: u64 = 16 << 20;

#[derive(Clone, Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Makes a function of a source in a file, or replaces the source of the one that has its
    /// name already, and prints the function's ID.
    ///
    /// The credential is WEBHOOK_API_KEY: an API key, or an access token as key:secret.
    Push(Push),
    /// Runs a source in a file on the last webhooks of the function that has its name, without
    /// saving it, and says what it would change, stop or fail on.
    ///
    /// Nothing is sent or stored. The command fails when the source fails on a webhook. The
    /// credential is WEBHOOK_API_KEY: an API key.
    Try(attempt::Try),
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Push {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    access: Access,
}

/// A source in a file.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Source {
    /// The source, such as verify.lua.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What the function is called; the file's name without its ending unless set.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The language; what the file's name ends with unless set.
    #[arg(long, value_name = "lua|js", value_parser = driver)]
    driver: Option<Driver>,
}

pub(crate) async fn run(command: Command, key: Option<Secret>) -> Result<(), Failure> {
    match command {
        Command::Push(Push { source, access }) => {
            let (name, spec) = (source.name()?, source.spec()?);
            let id = access.api(key)?.push_function(&name, &spec).await?;
            print(&format!("{}\n", one_line(&id)))
        }
        Command::Try(options) => attempt::try_source(options, key).await,
    }
}

impl Source {
    /// What a function of it is: its name, its language and the source.
    fn spec(&self) -> Result<Value, Failure> {
        let (name, driver) = (self.name()?, self.driver()?.to_string());
        Ok(json!({ "name": name, "driver": driver, "payload": read(&self.file)? }))
    }

    fn name(&self) -> Result<String, Failure> {
        let of_file = || self.file.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned);
        let name = self.name.clone().or_else(of_file);
        name.ok_or_else(|| Failure::new("the file's name is no text: say --name"))
    }

    fn driver(&self) -> Result<Driver, Failure> {
        if let Some(driver) = self.driver {
            return Ok(driver);
        }
        match self.file.extension().and_then(|ending| ending.to_str()) {
            Some("lua") => Ok(Driver::Lua),
            Some("js" | "mjs") => Ok(Driver::Js),
            _ => Err(Failure::new(format!(
                "{} ends with neither .lua nor .js: say --driver",
                self.file.display()
            ))),
        }
    }
}

fn driver(text: &str) -> Result<Driver, String> {
    match text {
        "lua" => Ok(Driver::Lua),
        "js" => Ok(Driver::Js),
        _ => Err(format!("{text:?} is neither lua nor js")),
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    let failed = |error| Failure::io(format!("cannot read {}", path.display()), error);
    let mut source = String::new();
    let file = File::open(path).map_err(failed)?;
    file.take(MAX_SOURCE_BYTES + 1).read_to_string(&mut source).map_err(failed)?;
    if source.len() as u64 > MAX_SOURCE_BYTES {
        let reason = format!("{} is longer than {MAX_SOURCE_BYTES} bytes", path.display());
        return Err(Failure::new(reason));
    }
    Ok(source)
}
