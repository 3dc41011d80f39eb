//! What shells and readers of manuals get, made from the definition of the command line.

use crate::{failure::Failure, print::print};

/// What a shell needs to complete the command line.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// A page of the manual.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Man {
    /// The command that the page is about, such as account create; the program itself unless set.
    #[arg(value_name = "COMMAND")]
    of: Vec<String>,
}

/// `completions`
pub(crate) fn completions(
    options: &Completions,
    mut command: clap::Command,
) -> Result<(), Failure> {
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(options.shell, &mut command, name, &mut text);
    print(&String::from_utf8_lossy(&text))
}

/// `man`
pub(crate) fn man(options: &Man, mut command: clap::Command) -> Result<(), Failure> {
    // Fills in what is said once for all commands.
    command.build();
    let mut page = command;
    for name in &options.of {
        let below = page.find_subcommand(name).cloned();
        page = below.ok_or_else(|| Failure::new(format!("there is no command {name}")))?;
    }
    let title = match options.of.as_slice() {
        [] => "webhook-server".to_owned(),
        of => format!("webhook-server-{}", of.join("-")),
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page.display_name(title.clone()))
        .title(title)
        .manual("webhook-server")
        .render(&mut text)
        .map_err(|error| Failure::io("cannot write the page", error))?;
    print(&String::from_utf8_lossy(&text))
}
