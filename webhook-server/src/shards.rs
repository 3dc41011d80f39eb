//! `shards`: which databases have webhooks, and which buckets each of them gets.

use std::ops::RangeInclusive;

use webhook_core::BucketId;
use webhook_storage::{SLOTS, ShardStatus, ShardedStorage, slot_of};

use crate::{config::StorageConfig, data_folder, failure::Failure, print::print};

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Shards {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum Command {
    /// Has new webhooks of some slots, or of a bucket's slot, written to another shard.
    ///
    /// No row is copied. Deliveries that wait are attempted from where they are, and logs stay
    /// there until their time is over. Servers take the change up within 5 s.
    Move {
        /// Slots, such as 7 or 0-99, separated by commas.
        #[arg(long, value_name = "SLOTS", value_delimiter = ',', value_parser = range)]
        #[arg(required_unless_present = "bucket", conflicts_with = "bucket")]
        slots: Vec<RangeInclusive<u16>>,
        /// The bucket whose slot is moved, and with it all buckets that are in it.
        #[arg(long, value_name = "ID")]
        bucket: Option<BucketId>,
        /// The number of the shard.
        #[arg(long, value_name = "NUMBER")]
        to: u16,
    },
}

/// `7` or `0-99`
fn range(text: &str) -> Result<RangeInclusive<u16>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.parse::<u16>().ok().filter(|number| *number < SLOTS);
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        _ => Err(format!("must be numbers from 0 to {}, such as 7 or 0-99", SLOTS - 1)),
    }
}

pub(crate) async fn run(options: Shards, config: &StorageConfig) -> Result<(), Failure> {
    if config.shards.is_empty() {
        return Err(Failure::new("there is one database: set WEBHOOK_SHARDS to have several"));
    }
    let opening = data_folder::open(config).await?;
    let storage = ShardedStorage::connect(&opening, &config.shards).await?;
    let done = carry_out(options, &storage).await;
    storage.close().await;
    done
}

async fn carry_out(options: Shards, storage: &ShardedStorage) -> Result<(), Failure> {
    let Some(Command::Move { slots, bucket, to }) = options.command else {
        return print(&table(&storage.shards().await?));
    };
    let slots: Vec<u16> = match bucket {
        Some(bucket) => vec![slot_of(bucket)],
        None => slots.into_iter().flatten().collect(),
    };
    let moved = storage.move_slots(&slots, to).await?;
    print(&format!("{moved} of {} slots moved to shard {to}\n", slots.len()))
}

fn table(shards: &[ShardStatus]) -> String {
    let head = format!(
        "{:>5}  {:>6}  {:>6}  {:>10}  {:>10}  DATABASE\n",
        "SHARD", "SLOTS", "FORMER", "WAITING", "LOGS"
    );
    shards.iter().fold(head, |table, shard| {
        let ShardStatus { number, database, slots, former_slots, rows, .. } = shard;
        let [waiting, logs] = match rows {
            Some((waiting, logs)) => [waiting, logs].map(ToString::to_string),
            None => ["away", "away"].map(str::to_owned),
        };
        let slots = slots.len();
        table
            + &format!(
                "{number:>5}  {slots:>6}  {former_slots:>6}  {waiting:>10}  {logs:>10}  {database}\n"
            )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_numbers_and_ranges_of_them() {
        assert_eq!(range("7"), Ok(7..=7));
        assert_eq!(range("0-4095"), Ok(0..=4095));
        for wrong in ["", "-", "4096", "9-3", "1-4096", "a", "1-2-3", "-1"] {
            assert!(range(wrong).is_err(), "{wrong}");
        }
    }
}
