//! Processes: what they cost, and that none is left behind.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};

use serde::{Serialize, de::DeserializeOwned};

use crate::Outcome;

/// Clock ticks of `/proc/*/stat`: 100 on every Linux machine.
const TICKS_PER_SECOND: u64 = 100;

/// How long a process may take to end when it is asked to.
const ORDERLY: Duration = Duration::from_secs(5);

/// A process, with those that it started. It ends when this is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// Whether it has to be asked, because it has children that it ends.
    ask: bool,
}

/// What a process has used so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Time of the CPU.
    pub cpu: Duration,
    /// Bytes that it caused to be written to the disk.
    pub written: u64,
}

impl Usage {
    /// What was used since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            cpu: self.cpu.saturating_sub(earlier.cpu),
            written: self.written.saturating_sub(earlier.written),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ask {
            // Killed, it would leave its children behind.
            let id = self.child.id().to_string();
            let _ = Command::new("kill").args(["-TERM", &id]).status();
            let deadline = Instant::now() + ORDERLY;
            while Instant::now() < deadline {
                if !matches!(self.child.try_wait(), Ok(None)) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    /// Starts a program, which ends with what is returned.
    pub fn spawn(command: &mut Command) -> Outcome<Self> {
        let program = command.get_program().to_owned();
        let child = command.stdin(Stdio::null()).spawn();
        let child = child.map_err(|error| format!("{}: {error}", program.display()))?;
        Ok(Self { child, ask: false })
    }

    /// The same for one that has children and ends them when it is asked to end.
    pub fn spawn_parent(command: &mut Command) -> Outcome<Self> {
        let mut process = Self::spawn(command)?;
        process.ask = true;
        Ok(process)
    }

    /// What it prints, when that was piped; once.
    pub fn stdout(&mut self) -> Outcome<BufReader<ChildStdout>> {
        Ok(BufReader::new(self.child.stdout.take().ok_or("standard output is not piped")?))
    }

    /// The address that a server says it listens at. It must say so within `patience`; what else it
    /// prints is read and forgotten.
    pub fn address(&mut self, patience: Duration) -> Outcome<SocketAddr> {
        let stdout = self.stdout()?;
        let (said, listening) = mpsc::channel();
        // Reads until the end, so that the server can continue to print.
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if let Some(address) = line.strip_prefix("listening on http://") {
                    let _ = said.send(address.to_owned());
                }
            }
        });
        let address = listening.recv_timeout(patience);
        Ok(address.map_err(|_| "the server does not start")?.parse()?)
    }

    /// `kill -9`, now.
    pub fn kill(&mut self) -> Outcome<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Stops it in the middle of whatever it does, until it is killed.
    pub fn freeze(&self) -> Outcome<()> {
        let id = self.child.id().to_string();
        if !Command::new("kill").args(["-STOP", &id]).status()?.success() {
            return Err(format!("process {id} cannot be stopped").into());
        }
        // On a busy machine its threads take a while to notice. One that waits for
        // a disk stops when it would return from that.
        let deadline = Instant::now() + ORDERLY;
        while Instant::now() < deadline {
            let mut running = false;
            for task in fs::read_dir(format!("/proc/{id}/task"))? {
                let stat = fs::read_to_string(task?.path().join("stat"))?;
                // The name, in parentheses, may have blanks in it.
                let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
                running |= !state.starts_with(['T', 'D']);
            }
            if !running {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(format!("process {id} does not stop").into())
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// The process and its children.
    fn ids(&self) -> Vec<u32> {
        let id = self.child.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        let children = children.unwrap_or_default();
        let children = children.split_whitespace().filter_map(|id| id.parse().ok());
        std::iter::once(id).chain(children).collect()
    }

    /// What the process and its children have used so far.
    pub fn usage(&self) -> Outcome<Usage> {
        let mut sum = Usage::default();
        for id in self.ids() {
            sum.cpu += cpu_of(id)?;
            sum.written += field(&format!("/proc/{id}/io"), "write_bytes:")?;
        }
        Ok(sum)
    }

    /// Resident memory, in bytes.
    pub fn resident(&self) -> Outcome<u64> {
        self.memory("VmRSS:")
    }

    /// The most that resident memory has been.
    pub fn most_resident(&self) -> Outcome<u64> {
        self.memory("VmHWM:")
    }

    /// Lets [`most_resident`](Self::most_resident) measure from this moment on.
    pub fn forget_most_resident(&self) -> Outcome<()> {
        for id in self.ids() {
            fs::write(format!("/proc/{id}/clear_refs"), "5")?;
        }
        Ok(())
    }

    fn memory(&self, name: &str) -> Outcome<u64> {
        let each = self.ids().into_iter().map(|id| field(&format!("/proc/{id}/status"), name));
        Ok(each.sum::<Outcome<u64>>()? * 1024)
    }

    /// How often threads whose name starts with `name` went to sleep.
    pub fn rests(&self, name: &str) -> Outcome<u64> {
        let mut rests = 0;
        for task in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let path = task?.path();
            if fs::read_to_string(path.join("comm"))?.starts_with(name) {
                let status = path.join("status").display().to_string();
                rests += field(&status, "voluntary_ctxt_switches:")?;
            }
        }
        Ok(rests)
    }
}

/// The time of the CPU that a process has used so far, whoever started it.
pub fn cpu_of(id: u32) -> Outcome<Duration> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat"))?;
    // The name, in parentheses, may have blanks in it.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Ok(Duration::from_millis(ticks * 1_000 / TICKS_PER_SECOND))
}

/// The number after `name` in a file of `/proc`.
fn field(path: &str, name: &str) -> Outcome<u64> {
    let text = fs::read_to_string(path)?;
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or_else(|| format!("{path} has no {name}"))?.parse()?)
}

/// A part of the harness in a process of its own: a line of JSON to it, lines
/// of JSON from it. It ends when its input does, even if the harness is killed.
#[derive(Debug)]
pub struct Peer {
    // Before the process, so that it sees the end of its input first.
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The process itself.
    pub process: Process,
}

impl Peer {
    /// Starts this program once more, as one of its parts.
    pub fn start(exe: &Path, arguments: &[&str]) -> Outcome<Self> {
        Self::start_with(exe, arguments, &[])
    }

    /// The same with these variables of the environment.
    pub fn start_with(exe: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome<Self> {
        let mut command = Command::new(exe);
        command
            .args(arguments)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let process = Process { child, ask: false };
        match (input, output) {
            (Some(input), Some(output)) => {
                Ok(Self { input, output: BufReader::new(output), process })
            }
            _ => Err("a part of the harness has no pipes".into()),
        }
    }

    /// Gives an order.
    pub fn tell(&mut self, order: &impl Serialize) -> Outcome<()> {
        use std::io::Write;
        let mut line = serde_json::to_vec(order)?;
        line.push(b'\n');
        Ok(self.input.write_all(&line)?)
    }

    /// Waits for what it says next.
    pub fn hear<T: DeserializeOwned>(&mut self) -> Outcome<T> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err("a part of the harness has ended; what it said is above".into());
        }
        Ok(serde_json::from_str(&line)?)
    }

    /// Gives an order and waits for the answer.
    pub fn ask<T: DeserializeOwned>(&mut self, order: &impl Serialize) -> Outcome<T> {
        self.tell(order)?;
        self.hear()
    }
}
