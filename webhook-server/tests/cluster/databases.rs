//! PostgreSQL servers of the test's own, of the programs that Debian has in `/usr/lib/postgresql`.

use std::{
    os::unix::fs::MetadataExt,
    path::PathBuf,
    process::Stdio,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::harness;

/// The user that PostgreSQL's programs run as where the test is root's, which they refuse.
const USER: &str = "postgres";

/// The programs, and a folder for what they keep.
pub(crate) struct Programs {
    bin: PathBuf,
    is_root: bool,
    folder: TempDir,
}

/// A server, alone or with a standby. It is killed when it is dropped.
pub(crate) struct Database {
    pub(crate) port: u16,
    data: PathBuf,
    child: Child,
}

impl Programs {
    /// None, and a line that says so, where they are not.
    pub(crate) async fn find() -> Option<Self> {
        let skip = |why: &str| println!("skipped: {why}");
        let versions = std::fs::read_dir("/usr/lib/postgresql").ok().into_iter().flatten();
        let versions = versions.filter_map(|version| {
            let bin = version.ok()?.path().join("bin");
            let number = bin.parent()?.file_name()?.to_str()?.parse::<u32>().ok()?;
            bin.join("initdb").is_file().then_some((number, bin))
        });
        let Some((_, bin)) = versions.max() else {
            skip("there is no /usr/lib/postgresql/*/bin/initdb");
            return None;
        };
        let folder = TempDir::new().expect("a temporary folder");
        let is_root = folder.path().metadata().expect("it is there").uid() == 0;
        let programs = Self { bin, is_root, folder };
        if is_root {
            let owner = Command::new("chown").arg(USER).arg(programs.folder.path()).status().await;
            let user = programs.command("initdb").arg("--version").stdout(Stdio::null()).status();
            if !owner.is_ok_and(|owner| owner.success()) || !user.await.is_ok_and(|it| it.success())
            {
                skip("root cannot run PostgreSQL's programs as the user postgres");
                return None;
            }
        }
        Some(programs)
    }

    /// A program, which gets no signal from here but its own.
    fn command(&self, program: &str) -> Command {
        let path = self.bin.join(program);
        let mut command = match self.is_root {
            true => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid", USER, "--regid", USER, "--clear-groups"]).arg(path);
                command
            }
            false => Command::new(path),
        };
        command.kill_on_drop(true).current_dir(self.folder.path());
        command
    }

    async fn run(&self, program: &str, arguments: &[&str]) {
        let output = self.command(program).args(arguments).output().await.expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{program}: {said}");
    }

    /// A server with an empty database.
    pub(crate) async fn primary(&self, name: &str) -> Database {
        let data = self.folder.path().join(name);
        let path = data.to_str().expect("text");
        self.run("initdb", &["-D", path, "-U", USER, "-A", "trust", "-E", "UTF8", "-N"]).await;
        self.start(data, name).await
    }

    /// A standby of this server, which from now on commits nothing that the standby has not.
    pub(crate) async fn standby(&self, of: &Database, name: &str) -> Database {
        let (data, port) = (self.folder.path().join(name), of.port.to_string());
        let path = data.to_str().expect("text");
        let from = ["-h", "127.0.0.1", "-p", &port, "-U", USER, "-D", path, "-X", "stream"];
        self.run("pg_basebackup", &[&from[..], &["-R", "-c", "fast", "-N"]].concat()).await;
        let standby = self.start(data, name).await;
        of.ask(&format!("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 ({name})'")).await;
        of.ask("SELECT pg_reload_conf()").await;
        let quorum = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'";
        of.until(quorum, "1").await;
        standby
    }

    async fn start(&self, data: PathBuf, name: &str) -> Database {
        let port = harness::lasting_port();
        let mut command = self.command("postgres");
        let settings = [
            format!("port={port}"),
            format!("cluster_name={name}"),
            "listen_addresses=127.0.0.1".to_owned(),
            "unix_socket_directories=".to_owned(),
            "shared_buffers=32MB".to_owned(),
        ];
        command.arg("-D").arg(&data);
        for setting in &settings {
            command.args(["-c", setting]);
        }
        let log = std::fs::File::create(self.folder.path().join(format!("{name}.log")));
        command.stdout(Stdio::null()).stderr(log.expect("it can be written"));
        let child = command.spawn().expect("it starts");
        let database = Database { port, data, child };
        database.until("SELECT 1", "1").await;
        database
    }
}

impl Database {
    pub(crate) fn url(port: u16) -> String {
        format!("postgres://{USER}@127.0.0.1:{port}/postgres")
    }

    /// A URL that names several hosts, and which of them is wanted.
    pub(crate) fn url_of(ports: &[u16], wanted: &str) -> String {
        let hosts: Vec<_> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        let hosts = hosts.join(",");
        format!("postgres://{USER}@{hosts}/postgres?target_session_attrs={wanted}")
    }

    async fn try_ask(&self, sql: &str) -> Option<String> {
        let mut command = Command::new("psql");
        command.args([&Self::url(self.port), "-qAt", "-c", sql]).kill_on_drop(true);
        let output = command.output().await.ok().filter(|output| output.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// What it answers.
    pub(crate) async fn ask(&self, sql: &str) -> String {
        self.try_ask(sql).await.unwrap_or_else(|| panic!("{sql} fails"))
    }

    /// Waits until it answers so.
    async fn until(&self, sql: &str, answer: &str) {
        let since = Instant::now();
        while self.try_ask(sql).await.as_deref() != Some(answer) {
            assert!(since.elapsed() < harness::PATIENCE, "{sql} is not {answer}: {}", self.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.data.with_extension("log")).unwrap_or_default()
    }

    /// `kill -9` of the server; its processes end when they see it.
    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.expect("it can be killed");
    }

    /// A standby becomes a server that is written to.
    pub(crate) async fn promote(&self) {
        assert_eq!(self.ask("SELECT pg_promote()").await, "t");
    }
}
