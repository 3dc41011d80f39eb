//! What an index of the text of webhooks would cost, for each webhook.
//!
//! ```text
//! cargo run --release -p benches --bin text
//! ```
//!
//! SQLite stores bodies alone and with a table of FTS5, 32 in a commit. A filter has a bit for each four
//! bytes in a row of 64 bodies. The figures are the CPU time and the bytes that an index adds.

use std::{collections::HashSet, fs, path::Path};

use benches::{Outcome, program};
use rusqlite::Connection;

/// Bodies of a pass.
const BODIES: usize = 20_000;
/// Bodies of a commit: about as many as the server has with 64 connections.
const COMMIT: usize = 32;
/// Bodies of one filter.
const BLOCK: usize = 64;
/// Bits of a filter that each piece sets.
const BITS_OF_A_PIECE: u32 = 5;
/// Bits of a filter for each piece of its bodies: one of a hundred other pieces is found.
const BITS_FOR_A_PIECE: usize = 10;

fn main() -> Outcome<()> {
    let bodies: Vec<_> = (0..BODIES).map(body).collect();
    let length = bodies.iter().map(String::len).sum::<usize>() / BODIES;
    println!("{BODIES} bodies of {length} bytes\n\n| index | CPU µs | bytes |\n|---|---|---|");
    let folder = program::scratch("text")?;
    let alone = stored(&folder, &bodies, None)?;
    for tokenizer in ["trigram", "unicode61"] {
        let (micros, bytes) = stored(&folder, &bodies, Some(tokenizer))?;
        println!("| FTS5, {tokenizer} | {:.1} | {:.0} |", micros - alone.0, bytes - alone.1);
    }
    let (micros, bytes, read) = filtered(&bodies)?;
    println!("| filter | {micros:.1} | {bytes:.0} |\n");
    println!("A search for the number of one order reads {read:.3} of the blocks.");
    Ok(())
}

/// The body of an event, as shops send it.
fn body(number: usize) -> String {
    let mut random = fastrand::Rng::with_seed(number as u64);
    let items: Vec<_> = (0..5)
        .map(|_| {
            let (sku, quantity, cents) = (random.u32(..999_999), random.u8(..9), random.u8(..100));
            format!(r#"{{"sku":"SKU-{sku:06}","quantity":{quantity},"price":"{sku}.{cents:02}"}}"#)
        })
        .collect();
    format!(
        r#"{{"id":"evt_{:032x}","type":"order.created","created":{},"data":{{"order":"order-{}","customer":{{"id":"{:032x}","email":"user{}@example.com","address":{{"street":"{} Main Street","zip":"{:05}"}}}},"items":[{}],"signature":"{:032x}{:032x}"}}}}"#,
        random.u128(..),
        1_767_225_600 + number,
        100_000 + number,
        random.u128(..),
        random.u32(..1_000_000),
        random.u16(..999),
        random.u32(..99_999),
        items.join(","),
        random.u128(..),
        random.u128(..),
    )
}

/// The CPU time in µs and the bytes of the file for each body.
fn stored(folder: &Path, bodies: &[String], tokenizer: Option<&str>) -> Outcome<(f64, f64)> {
    let folder = tempfile::tempdir_in(folder)?;
    let file = folder.path().join("text.db");
    let mut database = Connection::open(&file)?;
    database.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; \
         CREATE TABLE log (id INTEGER PRIMARY KEY, body TEXT)",
    )?;
    if let Some(tokenizer) = tokenizer {
        database.execute_batch(&format!(
            "CREATE VIRTUAL TABLE found USING \
             fts5(body, content='', detail=none, tokenize='{tokenizer}')"
        ))?;
    }
    let before = cpu_nanos()?;
    for (number, bodies) in bodies.chunks(COMMIT).enumerate() {
        let commit = database.transaction()?;
        for (at, body) in bodies.iter().enumerate() {
            let id = (number * COMMIT + at) as i64;
            commit.prepare_cached("INSERT INTO log VALUES (?, ?)")?.execute((id, body))?;
            if tokenizer.is_some() {
                let insert = "INSERT INTO found (rowid, body) VALUES (?, ?)";
                commit.prepare_cached(insert)?.execute((id, body))?;
            }
        }
        commit.commit()?;
    }
    let nanos = cpu_nanos()? - before;
    database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    let each = |sum: u64| sum as f64 / bodies.len() as f64;
    Ok((each(nanos) / 1_000.0, each(fs::metadata(file)?.len())))
}

/// The CPU time in µs and the bytes for each body, and the part of the blocks that a search reads.
fn filtered(bodies: &[String]) -> Outcome<(f64, f64, f64)> {
    let pieces: HashSet<_> = bodies.iter().take(BLOCK).flat_map(|body| pieces(body)).collect();
    let bits = (pieces.len() * BITS_FOR_A_PIECE).next_power_of_two();
    let before = cpu_nanos()?;
    let blocks: Vec<_> = bodies
        .chunks(BLOCK)
        .map(|bodies| {
            let mut filter = vec![0_u64; bits / 64];
            for place in bodies.iter().flat_map(|body| pieces_at(body, bits)) {
                filter[place / 64] |= 1 << (place % 64);
            }
            filter
        })
        .collect();
    let nanos = cpu_nanos()? - before;
    let wanted = format!("order-{}", 100_000 + bodies.len() / 2);
    let has = |filter: &&Vec<u64>| {
        pieces_at(&wanted, bits).all(|place| filter[place / 64] >> (place % 64) & 1 == 1)
    };
    let read = blocks.iter().filter(has).count() as f64 / blocks.len() as f64;
    Ok((nanos as f64 / 1_000.0 / bodies.len() as f64, bits as f64 / 8.0 / BLOCK as f64, read))
}

/// A hash of each four bytes in a row.
fn pieces(body: &str) -> impl Iterator<Item = u64> + '_ {
    body.as_bytes().array_windows::<4>().map(|piece| {
        u64::from(u32::from_le_bytes(piece.map(|byte| byte.to_ascii_lowercase())))
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

/// The bits of a filter that the pieces set.
fn pieces_at(body: &str, bits: usize) -> impl Iterator<Item = usize> + '_ {
    pieces(body).flat_map(move |hash| {
        (0..BITS_OF_A_PIECE).map(move |number| (hash >> (number * 9)) as usize & (bits - 1))
    })
}

fn cpu_nanos() -> Outcome<u64> {
    let ran = fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(ran.split_whitespace().next().ok_or("no time in schedstat")?.parse()?)
}
