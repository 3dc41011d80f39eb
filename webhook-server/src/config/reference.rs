//! `docs/configuration.md`, made from the definitions of the options.

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use clap::{Arg, CommandFactory};

    use crate::cli::Cli;

    const INTRODUCTION: &str = "\
# Configuration

Every option is a flag and an environment variable; a flag wins. Durations are
written `500ms`, `30s`, `5m` or `1h`, sizes `4096`, `64KiB`, `3MiB` or `1GiB`.
A variable that starts with `WEBHOOK_` and is not listed here is reported at
the start, because it is most likely misspelt.

This page is made from the code: `UPDATE_DOCS=1 cargo test -p webhook-server
reference` writes it again.
";

    fn reference() -> String {
        let mut page = INTRODUCTION.to_owned();
        let mut command = Cli::command();
        command.build();
        let mut heading = None;
        let is_shown = |argument: &&Arg| argument.get_env().is_some() && !argument.is_hide_set();
        for argument in command.get_arguments().filter(is_shown) {
            if argument.get_help_heading() != heading {
                heading = argument.get_help_heading();
                let title = heading.unwrap_or_default();
                write!(page, "\n## {title}\n\n| variable, flag | default | |\n|---|---|---|\n")
                    .expect("a string takes everything");
            }
            row(&mut page, argument);
        }
        page
    }

    fn row(page: &mut String, argument: &Arg) {
        let env = argument.get_env().unwrap_or_default().to_string_lossy();
        let long = argument.get_long().unwrap_or_default();
        let default: Vec<_> =
            argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        let default = match default.join(",") {
            none if none.is_empty() || !argument.get_action().takes_values() => String::new(),
            value => format!("`{value}`"),
        };
        let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string);
        let help = help.unwrap_or_default().replace('\n', " ");
        let help = help.replace('|', "\\|");
        writeln!(page, "| `{env}` `--{long}` | {default} | {help} |")
            .expect("a string takes everything");
    }

    #[test]
    #[allow(
        clippy::disallowed_methods,
        reason = "what a test needs from outside comes in variables"
    )]
    fn reference_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/configuration.md");
        let expected = reference();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &expected).expect("docs/configuration.md is writable");
        }
        let found = std::fs::read_to_string(path).expect("docs/configuration.md is there");
        assert_eq!(found, expected, "run the test again with UPDATE_DOCS=1");
    }

    #[test]
    fn flags_and_variables_carry_the_same_names() {
        let mut command = Cli::command();
        command.build();
        for argument in command.get_arguments().filter(|argument| argument.get_env().is_some()) {
            let long = argument.get_long().expect("an option with a variable has a flag");
            let expected = format!("WEBHOOK_{}", long.to_uppercase().replace('-', "_"));
            assert_eq!(argument.get_env().and_then(|env| env.to_str()), Some(&*expected));
            assert!(argument.get_help().is_some(), "{long} says what it is for");
        }
    }
}
