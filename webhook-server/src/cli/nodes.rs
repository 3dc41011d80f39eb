//! `nodes`: which servers share the database, and what each of them has in hand.

use std::time::Duration;

use webhook_storage::{DatabaseUrl, Member, Storage};

use crate::{
    api::rfc3339, config::StorageConfig, failure::Failure, print::print, service::data_folder,
};

/// Prints a line for each node.
pub(crate) async fn run(config: &StorageConfig) -> Result<(), Failure> {
    let url = data_folder::database_url(config);
    if !matches!(url, DatabaseUrl::Postgres(_)) {
        return Err(Failure::new("nodes share a PostgreSQL database: set WEBHOOK_DATABASE_URL"));
    }
    if !Storage::was_opened(&url).await? {
        return Err(Failure::new("no server has run on this database"));
    }
    let options = data_folder::open(config).await?;
    let storage = Storage::connect_beside(&options).await?;
    let members = storage.members().await;
    storage.close().await;
    print(&table(&members?))
}

fn table(members: &[Member]) -> String {
    if members.is_empty() {
        return "no server is running on this database\n".to_owned();
    }
    let head = format!(
        "{:36}  {:24}  {:>10}  {:>10}  {:>6}\n",
        "NODE", "SINCE", "LEASE", "DELIVERIES", "QUEUES"
    );
    members.iter().fold(head, |table, member| {
        let Member { node, since, lease_left, deliveries, queues, .. } = member;
        let since = since.map(rfc3339).unwrap_or_else(|| "-".to_owned());
        let lease = match lease_left {
            &Duration::ZERO => "over".to_owned(),
            left => format!("{:.1} s", left.as_secs_f64()),
        };
        table + &format!("{node}  {since:24}  {lease:>10}  {deliveries:>10}  {queues:>6}\n")
    })
}
