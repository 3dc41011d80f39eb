//! Starts the real server on a free port, talks to it over a real socket, and
//! leaves nothing running.
#![allow(dead_code, reason = "each test binary uses a part of it")]

mod client;
pub(crate) mod frames;
mod functions;
pub(crate) mod postgres;
pub(crate) mod turns;

use std::{
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering},
    },
    time::Duration,
};

use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

pub(crate) use client::{Answer, Client, Request};

/// How long the server may take to start or to end: far more than it needs,
/// because machines that run tests are busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

const KEY_LINE: &str = "API key, shown only this once: ";

/// A running server. It is killed when it is dropped; what it logged is
/// printed when the test fails.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    stdout: Lines<BufReader<ChildStdout>>,
    /// `http://127.0.0.1:<port>`
    pub(crate) base: String,
    /// The API key of the first account.
    pub(crate) key: String,
    client: Client,
    data: Data,
    options: Vec<(String, String)>,
    /// None of the one that cargo built, or `WEBHOOK_SERVER_BIN` names.
    program: Option<String>,
    turn: Arc<turns::Turn>,
}

/// The data folder, which may outlive a server.
#[derive(Debug)]
struct Data(TempDir);

impl Data {
    fn log(&self) -> PathBuf {
        self.0.path().join("server.log")
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = std::fs::read_to_string(self.log()).unwrap_or_default();
            eprintln!("--- the server's log\n{log}---");
        }
    }
}

impl Server {
    /// A server with an empty database that may deliver to this machine.
    pub(crate) async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// The same with these environment variables, which override the harness's own.
    pub(crate) async fn start_with(options: &[(&str, &str)]) -> Self {
        let data = Data(TempDir::new().expect("a temporary folder"));
        let options = options.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        Self::spawn(data, options.collect(), String::new()).await
    }

    /// The same, started by a shell that has run `before`, such as `ulimit`.
    pub(crate) async fn start_after(before: &str) -> Self {
        let data = Data(TempDir::new().expect("a temporary folder"));
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{before}; exec \"$0\"")]).arg(program());
        Self::spawn_as(with_environment(shell, data.0.path()), data, Vec::new(), String::new())
            .await
    }

    /// Another program, such as that of an earlier version.
    pub(crate) async fn start_of(program: &str, options: &[(&str, &str)]) -> Self {
        let data = Data(TempDir::new().expect("a temporary folder"));
        let options = options.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        let command = with_environment(Command::new(program), data.0.path());
        let mut server = Self::spawn_as(command, data, options.collect(), String::new()).await;
        server.program = Some(program.to_owned());
        server
    }

    /// A server on a folder that something was done to.
    pub(crate) async fn start_in(folder: TempDir, options: &[(&str, &str)]) -> Self {
        let options = options.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        Self::spawn(Data(folder), options.collect(), String::new()).await
    }

    async fn spawn(data: Data, options: Vec<(String, String)>, key: String) -> Self {
        Self::spawn_as(command(data.0.path()), data, options, key).await
    }

    async fn spawn_as(
        mut command: Command,
        data: Data,
        options: Vec<(String, String)>,
        key: String,
    ) -> Self {
        let turn = turns::shared().await;
        let mut child = command
            .envs(options.iter().map(|(name, value)| (name, value)))
            .stdout(Stdio::piped())
            .stderr(append(&data.log()))
            .kill_on_drop(true)
            .spawn()
            .expect("the server starts");
        let stdout = child.stdout.take().expect("standard output is piped");
        let mut server = Self {
            child,
            stdout: BufReader::new(stdout).lines(),
            base: String::new(),
            key,
            client: Client::default(),
            data,
            options,
            program: None,
            turn,
        };
        let chosen = server.options.iter().find(|(name, _)| name == "WEBHOOK_API_KEY");
        if let Some((_, chosen)) = chosen {
            server.key = chosen.clone();
        }
        server.base = server.line_after("listening on ").await;
        if server.key.is_empty() {
            server.key = server.line_after(KEY_LINE).await;
        }
        server
    }

    /// The rest of the next line of standard output that starts with `prefix`.
    async fn line_after(&mut self, prefix: &str) -> String {
        loop {
            let line = self.line().await;
            let line = line.unwrap_or_else(|| panic!("the server ended before {prefix:?}"));
            if let Some(rest) = line.strip_prefix(prefix) {
                return rest.to_owned();
            }
        }
    }

    /// The next line of standard output.
    pub(crate) async fn line(&mut self) -> Option<String> {
        let line = timeout(PATIENCE, self.stdout.next_line()).await;
        line.expect("the server prints in time").expect("standard output is text")
    }

    /// A request with the API key of the first account.
    pub(crate) fn request(&self, method: &str, path: &str) -> Request<'_> {
        self.anonymous(method, path).header("authorization", &format!("Bearer {}", self.key))
    }

    /// A request without credentials.
    pub(crate) fn anonymous(&self, method: &str, path: &str) -> Request<'_> {
        self.client.request(method, &format!("{}{path}", self.base))
    }

    /// A request with the API key and no body.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.request("GET", path).send().await
    }

    /// A bucket of this name, as it was answered.
    pub(crate) async fn bucket(&self, name: &str) -> serde_json::Value {
        let spec = serde_json::json!({ "name": name });
        let answer = self.request("POST", "/v1/buckets").json(&spec).send().await;
        answer.expect(201).json()
    }

    /// An output of this bucket, as it was answered.
    pub(crate) async fn output(
        &self,
        bucket: &serde_json::Value,
        spec: serde_json::Value,
    ) -> serde_json::Value {
        let path = format!("/v1/buckets/{}/outputs", id(bucket));
        self.request("POST", &path).json(&spec).send().await.expect(201).json()
    }

    /// The data folder.
    pub(crate) fn data_dir(&self) -> &Path {
        self.data.0.path()
    }

    /// The memory that the server has in use, in KiB.
    pub(crate) fn resident_kib(&self) -> u64 {
        let id = self.child.id().expect("the server is running");
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("Linux");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("VmRSS");
        line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number")
    }

    /// The process.
    pub(crate) fn process_id(&self) -> u32 {
        self.child.id().expect("the server is running")
    }

    /// What the server logged so far.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    /// Where the log of this server is, and of the next one on the same data.
    pub(crate) fn log_file(&self) -> PathBuf {
        self.data.log()
    }

    /// Runs another command of the program on the same data folder.
    pub(crate) async fn command(&self, arguments: &[&str]) -> std::process::Output {
        let mut command = command(self.data_dir());
        command.envs(self.options.iter().map(|(name, value)| (name, value))).args(arguments);
        let output = timeout(PATIENCE, command.kill_on_drop(true).output()).await;
        output.expect("the command ends in time").expect("the command starts")
    }

    /// Makes another account on the same data, and answers its API key.
    pub(crate) async fn account(&self, name: &str) -> String {
        let output = self.command(&["account", "create", name]).await;
        let text = String::from_utf8_lossy(&output.stdout);
        let key = text.lines().find_map(|line| line.strip_prefix(KEY_LINE));
        key.unwrap_or_else(|| panic!("{output:?}")).to_owned()
    }

    /// `kill -9`: the server has no chance to do anything.
    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.expect("the server can be killed");
    }

    /// Asks the server to end.
    pub(crate) async fn signal(&self, name: &str) {
        let id = self.child.id().expect("the server is running");
        let kill = format!("kill -{name} {id}");
        let sent = Command::new("sh").args(["-c", &kill]).status().await;
        assert!(sent.expect("sh starts").success(), "{kill}");
    }

    /// Stops the server where it is, until `CONT`. It answers when the kernel has stopped each
    /// thread (where there is `/proc`): until then a thread could begin a transaction, and would
    /// keep its locks.
    pub(crate) async fn freeze(&self) {
        self.signal("STOP").await;
        let id = self.child.id().expect("the server is running");
        let is_running = |thread: std::io::Result<std::fs::DirEntry>| {
            let stat = thread.and_then(|it| std::fs::read_to_string(it.path().join("stat")));
            // The state is behind the name, which stands in brackets.
            stat.is_ok_and(|stat| !stat.rsplit(')').next().is_some_and(|it| it.starts_with(" T")))
        };
        let began = std::time::Instant::now();
        while std::fs::read_dir(format!("/proc/{id}/task")).is_ok_and(|mut it| it.any(is_running)) {
            assert!(began.elapsed() < PATIENCE, "the server does not stop");
            tokio::task::yield_now().await;
        }
    }

    /// How the server ended.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        let ended = timeout(PATIENCE, self.child.wait()).await;
        ended.expect("the server ends in time").expect("the server is a child")
    }

    /// SIGTERM, and how the server ended.
    pub(crate) async fn terminate(&mut self) -> ExitStatus {
        // The server waits a second for another request of each connection that is open.
        self.client = Client::default();
        self.signal("TERM").await;
        self.ended().await
    }

    /// Starts a server on the data of this one, which must have ended.
    pub(crate) async fn restart(self) -> Self {
        self.restart_with(&[]).await
    }

    /// The same with further environment variables.
    pub(crate) async fn restart_with(self, further: &[(&str, &str)]) -> Self {
        // The turn is kept until the next server shares it.
        let Self { mut child, data, mut options, key, program, turn: _turn, .. } = self;
        options.extend(further.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        let ended = child.try_wait().expect("the server is a child");
        assert!(ended.is_some(), "the former server is still running");
        let Some(program) = program else { return Self::spawn(data, options, key).await };
        let command = with_environment(Command::new(&program), data.0.path());
        let server = Self::spawn_as(command, data, options, key).await;
        Self { program: Some(program), ..server }
    }
}

/// The program, with an environment of its own. `WEBHOOK_SERVER_BIN` names
/// another one, such as that of a release.
pub(crate) fn command(data: &Path) -> Command {
    with_environment(Command::new(program()), data)
}

#[allow(clippy::disallowed_methods, reason = "what a test needs from outside comes in variables")]
fn program() -> std::ffi::OsString {
    let chosen = std::env::var_os("WEBHOOK_SERVER_BIN");
    chosen.unwrap_or_else(|| env!("CARGO_BIN_EXE_webhook-server").into())
}

fn with_environment(mut command: Command, data: &Path) -> Command {
    command
        .env_clear()
        .env("WEBHOOK_LISTEN", "127.0.0.1:0")
        .env("WEBHOOK_DATA_DIR", data)
        .env("WEBHOOK_ALLOW_PRIVATE_DESTINATIONS", "true")
        .env("WEBHOOK_LOG", "debug")
        // What is looked for in the log is there.
        .env("WEBHOOK_LOG_DELAY", "0s");
    command
}

/// A port of this machine for a program that listens on it later, or again after it ended. It
/// is below the ports that Linux gives to connections (from 32768), so that no connection takes
/// it meanwhile.
pub(crate) fn lasting_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = (std::process::id() % 10_000) as u16;
    loop {
        let port = 20_000 + (first + NEXT.fetch_add(1, Ordering::Relaxed)) % 12_000;
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

fn append(path: &Path) -> Stdio {
    let file = std::fs::File::options().create(true).append(true).open(path);
    file.expect("the log can be written").into()
}

/// Waits until the clock shows another millisecond: the server tells moments apart by it.
pub(crate) async fn another_millisecond() {
    let shown = || std::time::SystemTime::UNIX_EPOCH.elapsed().map(|since| since.as_millis()).ok();
    let before = shown();
    while shown() == before {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// The `id` of a resource.
pub(crate) fn id(resource: &serde_json::Value) -> &str {
    resource["id"].as_str().expect("a resource has an id")
}

/// The ID of a bucket's default input.
pub(crate) fn default_input(bucket: &serde_json::Value) -> &str {
    id(&bucket["inputs"][0])
}
