//! The clock of one machine is set, by a library that is loaded before the C library: that of
//! `torture --only clock`.

use std::{fs::File, os::unix::fs::FileExt, path::Path};

use tokio::process::Command;

use super::*;
use crate::{
    counted::{Seen, Senders},
    harness::postgres::{KEY, LEASE_OPTION, SECRET, Schema, node, node_with, skipped},
};

const SOURCE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../benches/src/bin/torture/faults/clock.c");

/// A clock that is set through a file; none, and a line that says so, without a C compiler.
async fn clock(folder: &Path) -> Option<(String, String, File)> {
    let (library, path) = (folder.join("clock.so"), folder.join("shift"));
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(SOURCE);
    if !compile.status().await.is_ok_and(|status| status.success()) {
        println!("skipped: there is no C compiler for the library that sets the clock");
        return None;
    }
    let file = File::options().create(true).truncate(true).write(true).open(&path);
    let file = file.expect("a file");
    set(&file, 0);
    Some((library.display().to_string(), path.display().to_string(), file))
}

fn set(file: &File, seconds: i64) {
    file.write_all_at(&seconds.to_ne_bytes(), 0).expect("it is written");
}

/// Every fifth webhook fails at first; the others come once, and these two times.
async fn skewed(name: &str, by: i64) {
    let folder = tempfile::tempdir().expect("a folder");
    let Some((library, shift, file)) = clock(folder.path()).await else { return };
    let Some(schema) = Schema::create(name).await else { return skipped() };
    let clock = [("LD_PRELOAD", &*library), ("TORTURE_CLOCK", &*shift)];
    let (set_node, other) = (node_with(&schema, &clock).await, node(&schema).await);
    let (seen, sink) = Seen::sink(|number, before| match before {
        0 if number % 5 == 0 => Reply::Status(503),
        // Longer than a look for what nobody attempts takes.
        _ => Reply::Hang(Duration::from_millis(1_500)),
    })
    .await;
    let bucket = bucket_with(&other, &sink.base, json!(null)).await;
    set(&file, by);
    let urls = [input_url(&set_node, &bucket), input_url(&other, &bucket)];
    let senders = Senders::start(&urls, 4, Duration::from_millis(200));
    // Longer than a lease.
    let lasts = chosen("CLUSTER_SKEW_SECONDS", LEASE.as_secs() * 2);
    tokio::time::sleep(Duration::from_secs(lasts)).await;
    let sent = senders.stop().await;
    let acknowledged = sent.iter().filter(|sent| sent.is_acknowledged()).count();
    assert_eq!(acknowledged, sent.len(), "nobody is turned away");
    let offset = metric(&set_node, "webhook_store_clock_offset_seconds").await;
    assert!((offset - by as f64).abs() < 2.0, "{offset}");
    until_logs(&other, &bucket, "sent", acknowledged as u64).await;
    let wrong = seen.times();
    let wrong: Vec<_> = wrong
        .iter()
        .filter(|(number, count)| **count != 1 + usize::from(*number % 5 == 0))
        .collect();
    println!("{name}: {acknowledged} acknowledged, the clock {offset} s ahead");
    set(&file, 0);
    let mended = Instant::now();
    while metric(&set_node, "webhook_store_clock_offset_seconds").await.abs() >= 0.25 {
        assert!(mended.elapsed() < Duration::from_secs(60), "the clock is right, and not shown so");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(wrong.is_empty(), "came too often or too seldom: {wrong:?}");
    assert_eq!(metric(&set_node, "webhook_settle_conflicts_total").await, 0.0);
    drop((set_node, other));
    schema.remove().await;
}

#[tokio::test]
async fn a_clock_that_is_a_minute_ahead_sends_nothing_twice() {
    skewed("skewed_ahead", 60).await;
}

#[tokio::test]
async fn a_clock_that_is_a_minute_behind_sends_nothing_twice() {
    skewed("skewed_behind", -60).await;
}

#[tokio::test]
async fn a_machine_whose_clock_is_wrong_is_refused_in_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some((library, shift, file)) = clock(folder.path()).await else { return };
    let Some(schema) = Schema::create("skewed_start").await else { return skipped() };
    // A quarter of the lease is too much, of the lease by default and of another one.
    for (lease, seconds) in [(None, -2), (Some(LEASE_OPTION), -1)] {
        set(&file, seconds);
        let data = tempfile::tempdir().expect("a folder");
        let mut command = harness::command(data.path());
        command.env("WEBHOOK_DATABASE_URL", &schema.url).env("WEBHOOK_LOG", "error");
        command.env("WEBHOOK_API_KEY", KEY).env("WEBHOOK_SECRET_KEY", SECRET).envs(lease);
        command.env("LD_PRELOAD", &library).env("TORTURE_CLOCK", &shift).kill_on_drop(true);
        let output = tokio::time::timeout(harness::PATIENCE, command.output()).await;
        let output = output.expect("it ends").expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.lines().count() == 1, "{said}");
        assert!(said.contains("behind the database's: set it, by NTP"), "{said}");
    }
    schema.remove().await;
}
