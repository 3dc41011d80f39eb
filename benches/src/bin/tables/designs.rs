//! The designs and their schemas.

/// How webhooks, deliveries and counts are stored.
pub(crate) struct Design {
    pub(crate) name: &'static str,
    /// Each commit changes the tallies of its buckets, in place of appending what changes.
    pub(crate) tallies: bool,
    /// Keys are integers in the order of time, and ten bytes more of each UUID are in the row;
    /// buckets are numbers of a dictionary.
    pub(crate) int: bool,
    /// An outcome finds the row of its delivery by the identifier that the relay has: among the
    /// keys of its millisecond, by the ten bytes. Otherwise the outcome knows the key.
    pub(crate) by_moment: bool,
    /// What is to be attempted is in a table `pending`, from which its outcome moves it to
    /// `delivery`.
    pub(crate) once: bool,
    /// An index has every delivery of a bucket, whatever its status.
    pub(crate) of_bucket: bool,
}

const TODAY: Design = Design {
    name: "today",
    tallies: false,
    int: false,
    by_moment: false,
    once: false,
    of_bucket: false,
};

pub(crate) const DESIGNS: [Design; 7] = [
    Design {
        name: "tallies in each commit, an index of all",
        tallies: true,
        of_bucket: true,
        ..TODAY
    },
    Design { name: "an index of all", of_bucket: true, ..TODAY },
    TODAY,
    Design { name: "once", once: true, ..TODAY },
    Design { name: "int", int: true, ..TODAY },
    Design { name: "int, found by the moment", int: true, by_moment: true, ..TODAY },
    Design { name: "int and once", int: true, once: true, ..TODAY },
];

impl Design {
    /// The columns of a key.
    pub(crate) fn key(&self) -> &'static str {
        if self.int { "id, rest" } else { "id" }
    }

    /// The columns that say whose it is.
    pub(crate) fn owner(&self) -> &'static str {
        if self.int { "bucket_id" } else { "account_id, bucket_id" }
    }

    /// Where what is to be attempted is.
    pub(crate) fn queue(&self) -> &'static str {
        if self.once { "pending" } else { "delivery" }
    }

    /// The tables with the indexes that the server has, without those that a webhook which
    /// is delivered at once never enters.
    pub(crate) fn schema(&self) -> String {
        let (key, reference) = match self.int {
            true => ("id INTEGER PRIMARY KEY, rest BLOB NOT NULL", "INTEGER"),
            false => ("id BLOB PRIMARY KEY NOT NULL", "BLOB"),
        };
        let (owner, place) = match self.int {
            true => ("bucket_id INTEGER NOT NULL", "id"),
            false => ("account_id BLOB NOT NULL, bucket_id BLOB NOT NULL", "created_at, id"),
        };
        let delivery = format!(
            "webhook_id {reference} NOT NULL, {owner}, output_id BLOB, internal INTEGER NOT NULL, \
             ephemeral INTEGER NOT NULL, status INTEGER NOT NULL, due_at INTEGER, held_by BLOB, \
             attempts INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL, \
             updated_at INTEGER NOT NULL, output_execution_id BLOB, status_code INTEGER, \
             duration_ns INTEGER, error TEXT, response_headers BLOB, response_body BLOB, \
             processed BLOB, handed_over INTEGER NOT NULL DEFAULT 0"
        );
        let of = self.owner();
        let mut schema = format!(
            "CREATE TABLE webhook ({key}, {owner}, input_id BLOB NOT NULL, method TEXT NOT NULL, \
             extra_path BLOB NOT NULL, raw_query BLOB NOT NULL, headers BLOB NOT NULL, \
             remote_addr TEXT, secure INTEGER NOT NULL, ephemeral INTEGER NOT NULL, \
             input_execution_id BLOB, received_at INTEGER NOT NULL, body BLOB NOT NULL) STRICT; \
             CREATE TABLE delivery ({key}, {delivery}) STRICT; \
             CREATE INDEX of_webhook ON delivery (webhook_id); \
             CREATE INDEX ended ON delivery ({of}, status, {place}) \
             WHERE due_at IS NULL AND status NOT IN (0, 4); \
             CREATE TABLE tally_delta (id INTEGER PRIMARY KEY, changes BLOB NOT NULL) STRICT; \
             CREATE TABLE tally (span INTEGER, account_id BLOB, bucket_id BLOB, moment INTEGER, \
             output_id BLOB, status INTEGER, status_code INTEGER, retries INTEGER, \
             logs INTEGER NOT NULL, micros INTEGER NOT NULL, PRIMARY KEY (span, account_id, \
             bucket_id, moment, output_id, status, status_code, retries)) STRICT, WITHOUT ROWID;"
        );
        if self.of_bucket {
            schema += &format!("CREATE INDEX of_bucket ON delivery ({of}, {place});");
        }
        let mut held = "held_by";
        if self.once {
            let narrow = if self.int { "" } else { ", WITHOUT ROWID" };
            schema += &format!("CREATE TABLE pending ({key}, {delivery}) STRICT{narrow};");
            // Removing a webhook looks for what is pending of it.
            held = "held_by, webhook_id";
        }
        let queue = self.queue();
        schema + &format!("CREATE INDEX held ON {queue} ({held}) WHERE held_by IS NOT NULL;")
    }
}
