//! Defaults that follow the memory that the operating system allows: a container has less of it
//! than the machine.

use std::{fs, path::Path};

use super::value;

/// Options that bound memory: what part of the limit each has at most, and the least that it needs.
const PARTS: [(&str, u64, u64); 4] = [
    ("max_receiving_bytes", 4, 25 << 20),
    ("max_arriving_bytes", 8, 10 << 20),
    ("memory_budget", 8, 1 << 20),
    ("max_sending_bytes", 16, 1 << 20),
];

/// The limit allows one thread of functions for each multiple of this: a call takes an eighth of it.
const OF_A_THREAD: u64 = 8 * (32 << 20);

/// The option with a default that fits into `limit`; one that is not about memory stays as it is.
pub(crate) fn fit(option: clap::Arg, limit: Option<u64>) -> clap::Arg {
    let Some(limit) = limit else { return option };
    let id = option.get_id().as_str();
    if id == "function_threads" {
        let threads = (limit / OF_A_THREAD).max(1);
        return match threads < most_threads() {
            true => with_default(option, threads.to_string()),
            false => option,
        };
    }
    let Some(&(_, part, least)) = PARTS.iter().find(|(name, ..)| *name == id) else {
        return option;
    };
    let text = option.get_default_values().first().and_then(|text| text.to_str());
    let usual = text.and_then(|text| value::bytes(text).ok()).map_or(u64::MAX, |it| it as u64);
    let fitting = (limit / part).max(least);
    match fitting < usual {
        true => with_default(option, fitting.to_string()),
        false => option,
    }
}

/// The program reads its command line once, so that it need not free the text.
fn with_default(option: clap::Arg, text: String) -> clap::Arg {
    let text: &'static str = text.leak();
    option.default_value(text)
}

/// How many threads functions have without a limit.
fn most_threads() -> u64 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64).min(4)
}

/// The least limit of the control groups of this process (cgroups(7)), in bytes; none without one.
pub(crate) fn limit() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    limit_in(Path::new("/sys/fs/cgroup"), &groups)
}

fn limit_in(root: &Path, groups: &str) -> Option<u64> {
    let limits = groups.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next().unwrap_or(""), parts.next().unwrap_or("/"));
        let (root, file) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            "memory" => (root.join("memory"), "memory.limit_in_bytes"),
            _ => return Vec::new(),
        };
        // A group has no more than the groups that it is in. In a container the path may be a path of
        // the machine, and only the root exists.
        let groups = Path::new(path.trim_start_matches('/')).ancestors();
        let limits = groups.filter_map(|group| {
            let text = fs::read_to_string(root.join(group).join(file)).ok()?;
            text.trim().parse().ok()
        });
        limits.collect()
    });
    // Version 1 writes a number that no machine has where version 2 writes `max`.
    limits.min().filter(|limit| *limit < 1 << 60)
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn the_least_limit_of_a_group_and_what_it_is_in_counts() {
        let root = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            fs::write(path, text).expect("a file");
        };
        let limit = |groups: &str| limit_in(root.path(), groups);
        assert_eq!(limit("0::/pod/main\n"), None);
        write("pod/memory.max", "536870912\n");
        write("pod/main/memory.max", "max\n");
        assert_eq!(limit("0::/pod/main\n"), Some(512 << 20));
        write("memory.max", "268435456\n");
        assert_eq!(limit("0::/elsewhere\n"), Some(256 << 20));
        write("memory/old/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(limit("4:memory:/old\n3:cpu,cpuacct:/old\n"), None);
        write("memory/old/memory.limit_in_bytes", "134217728\n");
        assert_eq!(limit("4:memory:/old\n"), Some(128 << 20));
    }

    #[test]
    fn defaults_follow_the_limit_and_what_is_said_counts() {
        let read = |limit: Option<u64>, arguments: &[&str]| {
            let command = Cli::command().mut_args(|option| fit(option, limit));
            let matches = command.get_matches_from([&["webhook-server"], arguments].concat());
            let threads = matches.get_one::<NonZero<usize>>("function_threads");
            assert!(threads.is_none_or(|threads| threads.get() < most_threads() as usize));
            let is_small = limit.is_some_and(|limit| limit < 2 * OF_A_THREAD);
            assert_eq!(threads.is_some(), is_small && most_threads() > 1, "{limit:?}");
            PARTS.map(|(name, ..)| *matches.get_one::<usize>(name).expect("a size") >> 20)
        };
        assert_eq!(read(None, &[]), [256, 128, 64, 64]);
        assert_eq!(read(Some(8 << 30), &[]), [256, 128, 64, 64]);
        assert_eq!(read(Some(256 << 20), &[]), [64, 32, 32, 16]);
        assert_eq!(read(Some(32 << 20), &[]), [25, 10, 4, 2]);
        assert_eq!(read(Some(256 << 20), &["--memory-budget", "100MiB"]), [64, 32, 100, 16]);
    }
}
