//! Serves a mixed load for hours, and fails when the server's memory keeps rising or a webhook is
//! lost.
//!
//! ```text
//! cargo run --release -p benches --bin soak -- --seconds 7200
//! ```
//!
//! Each minute has a line with resident memory. The way in: [`kinds`] says what is sent, [`sender`]
//! sends it, [`sink`] receives it.

mod kinds;
mod sender;
mod sink;

use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use benches::{
    Outcome,
    api::{Api, KEY},
    process::Process,
    program,
};
use clap::Parser;
use sender::Sent;
use sink::Arrivals;

/// How long the start and the last deliveries may take.
const PATIENCE: Duration = Duration::from_secs(300);
const MIB: f64 = 1_048_576.0;

#[derive(Debug, Parser)]
#[command(name = "soak", about = "Serves a mixed load for hours and watches memory")]
struct Options {
    /// How long the load lasts.
    #[arg(long, default_value_t = 7_200, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
    /// Webhooks a second.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=5_000))]
    rate: u32,
    /// By how many MiB the mean of the last quarter may be above the mean of the second quarter.
    #[arg(long, default_value_t = 8.0, allow_negative_numbers = true)]
    bound: f64,
    /// The server; without it, the program next to this one, built before.
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("soak: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether nothing was lost and memory stayed within the bound.
fn run(options: &Options) -> Outcome<bool> {
    let program = program::server(options.server.as_deref())?;
    let folder = tempfile::tempdir_in(program::scratch("soak")?)?;
    let (process, api) = start(&program, folder.path())?;
    let runtime = tokio::runtime::Runtime::new()?;
    let arrivals = Arc::new(Arrivals::default());
    let sink = runtime.block_on(sink::serve(Arc::clone(&arrivals)))?;
    let inputs = kinds::configure(api, sink)?;
    let lasts = Duration::from_secs(options.seconds);
    let sent = Arc::new(Sent::default());
    let sending = runtime.spawn(sender::send(api.0, inputs, options.rate, lasts, sent.clone()));
    let resident = watch(&process, lasts, &sent)?;
    runtime.block_on(sending)??;
    settle(api)?;
    let lost = arrivals.missing(&sent.acknowledged());
    for number in lost.iter().take(5) {
        println!("lost: {number}, {}", kinds::name(*number));
    }
    let (rise, lost) = (rise(&resident), lost.len());
    println!(
        "{} acknowledged, {} not, {lost} lost, {} runs of crons; memory rose by {rise:.1} MiB of {}",
        sent.acknowledged().len(),
        sent.refused(),
        arrivals.crons(),
        options.bound
    );
    Ok(lost == 0 && rise <= options.bound && arrivals.crons() > 0)
}

/// Starts the server and waits until it listens.
fn start(program: &Path, folder: &Path) -> Outcome<(Process, Api)> {
    let mut command = Command::new(program);
    command
        .env("WEBHOOK_LISTEN", "127.0.0.1:0")
        .env("WEBHOOK_DATA_DIR", folder.join("data"))
        .env("WEBHOOK_ALLOW_PRIVATE_DESTINATIONS", "127.0.0.0/8")
        .env("WEBHOOK_API_KEY", KEY)
        // Old logs go as fast as new ones come.
        .env("WEBHOOK_LOG_RETENTION", "10m")
        .env("WEBHOOK_LOG", "error")
        .stdout(Stdio::piped());
    let mut process = Process::spawn(&mut command)?;
    let address = process.address(PATIENCE)?;
    Ok((process, Api(address)))
}

/// Resident memory in MiB, each second.
fn watch(process: &Process, lasts: Duration, sent: &Sent) -> Outcome<Vec<f64>> {
    let (began, mut resident) = (Instant::now(), Vec::new());
    println!("minute acknowledged resident-MiB");
    while began.elapsed() < lasts {
        std::thread::sleep(Duration::from_secs(1));
        resident.push(process.resident()? as f64 / MIB);
        if resident.len().is_multiple_of(60) {
            let mean = mean(&resident[resident.len() - 60..]);
            println!("{} {} {mean:.1}", resident.len() / 60, sent.acknowledged().len());
        }
    }
    Ok(resident)
}

/// Waits until nothing waits for an attempt.
fn settle(api: Api) -> Outcome<()> {
    let began = Instant::now();
    while api.pending()? > 0 {
        if began.elapsed() > PATIENCE {
            return Err(format!("{} deliveries still wait", api.pending()?).into());
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

/// From the second quarter to the last: the first quarter fills what is kept in memory.
fn rise(resident: &[f64]) -> f64 {
    let quarter = resident.len() / 4;
    mean(&resident[resident.len() - quarter..]) - mean(&resident[quarter..2 * quarter])
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
