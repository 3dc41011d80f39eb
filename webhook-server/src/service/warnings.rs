//! What an operator should know of a configuration that can be used.

use std::{any::TypeId, os::unix::fs::PermissionsExt, path::Path};

use clap::{ArgMatches, parser::ValueSource};
use webhook_core::model::Secret;
use webhook_storage::SecretKey;

use crate::{
    config::{Config, unknown_variables},
    telemetry::otel,
};

/// The files that a server has open besides the connections of its clients: the connections to
/// destinations that it keeps, and some for the database and the log.
const OTHER_FILES: usize = 1_024 + 128;

/// Warnings about the environment, which count for each command.
pub(crate) fn of_environment(command: &clap::Command) -> Vec<String> {
    let unknown = unknown_variables(command);
    unknown.iter().map(|name| format!("{name} is not an option of this server")).collect()
}

/// Warnings about what a server would run with.
pub(crate) fn of_server(config: &Config) -> Vec<String> {
    let connections = config.listen.max_connections;
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    // A laptop has few clients, whatever the limit is.
    let files = open_files(&limits).filter(|_| !config.listen.dev);
    let files = files.and_then(|files| too_few(files, connections));
    let folder = others_may_read(&config.storage.data_dir);
    [files, folder, otel::unheard()].into_iter().flatten().collect()
}

/// The soft limit of open files, of the text of `/proc/self/limits`; none without a limit.
fn open_files(limits: &str) -> Option<usize> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn too_few(files: usize, connections: usize) -> Option<String> {
    (files < connections.saturating_add(OTHER_FILES)).then(|| {
        format!(
            "this process may open {files} files, and WEBHOOK_MAX_CONNECTIONS is {connections}, \
             with {OTHER_FILES} other files: raise the limit (ulimit -n, LimitNOFILE=), or set \
             WEBHOOK_MAX_CONNECTIONS to {} or less",
            files.saturating_sub(OTHER_FILES).max(1),
        )
    })
}

/// Whether other users of the machine may look into the data folder.
fn others_may_read(folder: &Path) -> Option<String> {
    let mode = folder.metadata().ok()?.permissions().mode();
    (mode & 0o005 != 0).then(|| {
        let folder = folder.display();
        format!("other users of this machine may read the data folder {folder}: chmod 700 {folder}")
    })
}

/// The options with secrets that stand on the command line, where other users can read them.
pub(crate) fn secrets_on_command_line(
    matches: &ArgMatches,
    command: &clap::Command,
) -> Vec<String> {
    let mut shown = Vec::new();
    for option in command.get_arguments() {
        let id = option.get_id().as_str();
        if !matches!(matches.try_contains_id(id), Ok(true))
            || matches.value_source(id) != Some(ValueSource::CommandLine)
        {
            continue;
        }
        let kind = option.get_value_parser().type_id();
        let is_secret = kind == TypeId::of::<Secret>() || kind == TypeId::of::<SecretKey>();
        let values = matches.get_raw(id).into_iter().flatten();
        if is_secret || values.into_iter().any(|value| has_password(&value.to_string_lossy())) {
            let (option, variable) = (option.get_long(), option.get_env());
            let variable = variable.map(|name| name.to_string_lossy()).unwrap_or_default();
            shown.push(format!(
                "--{} is on the command line, where other users of this machine can read it: set \
                 {variable} instead",
                option.unwrap_or(id),
            ));
        }
    }
    if let Some((_, matches)) = matches.subcommand() {
        let below = secrets_on_command_line(matches, command);
        shown.extend(below.into_iter().filter(|line| !shown.contains(line)).collect::<Vec<_>>());
    }
    shown
}

/// Whether a URL has a password in it.
fn has_password(url: &str) -> bool {
    let authority = url.split_once("://").and_then(|(_, rest)| rest.split(['/', '?']).next());
    let user = authority.and_then(|authority| authority.rsplit_once('@'));
    user.is_some_and(|(user, _)| {
        user.split_once(':').is_some_and(|(_, password)| !password.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_open_files_is_compared_with_the_connections() {
        let limits = "Limit        Soft Limit   Hard Limit   Units\n\
                      Max open files            1024                 524288               files\n";
        assert_eq!(open_files(limits), Some(1_024));
        assert_eq!(open_files(&limits.replace("1024 ", "unlimited ")), None);
        assert_eq!(open_files(""), None);
        assert_eq!(too_few(65_536, 10_000), None);
        assert_eq!(too_few(11_152, 10_000), None);
        let said = too_few(4_096, 10_000).expect("too few");
        assert!(said.contains("may open 4096 files") && said.contains("to 2944 or less"), "{said}");
    }

    #[test]
    fn passwords_in_urls_are_found() {
        for url in ["postgres://a:b@host/db", "nats://u:p@h:4222", "postgres://a:b%40c@h?x=@"] {
            assert!(has_password(url), "{url}");
        }
        for url in ["", "sqlite://a:b", "postgres://host/a:b@c", "postgres://a@host", "a:b@c"] {
            assert!(!has_password(url), "{url}");
        }
    }
}
