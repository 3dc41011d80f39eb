//! Reading documents: one statement for each question.

use std::sync::LazyLock;

use webhook_core::{
    AccountId,
    store::{DocumentKey, DocumentKind, Find, Page},
};

use super::row::{Found, Raw, plain, with_cron, with_notification, with_output};
use crate::{
    entity::Table as _,
    tx::{Param, Query, ReadRow, over_set, with},
};

/// The columns of a document.
static DOCUMENT: LazyLock<String> =
    LazyLock::new(|| format!("d.{}", Raw::COLUMNS.replace(", ", ", d.")));
/// The columns of an output's state. The result has a row for each pause of an output.
const OUTPUT: &str =
    "h.failing_since, h.pauses, p.paused_by, p.paused_at, p.paused_until, p.reason";
const OUTPUT_JOIN: &str = "LEFT JOIN output_health h ON d.kind = 'output' AND h.output_id = d.id \
    LEFT JOIN output_pause p ON d.kind = 'output' AND p.output_id = d.id";
const CRON: &str = "c.next_run, c.last_run, c.is_over";
const CRON_JOIN: &str = "LEFT JOIN cron_state c ON c.cron_id = d.id";
const NOTIFICATION: &str = "n.last_sent_at";
const NOTIFICATION_JOIN: &str = "LEFT JOIN notification_state n ON n.notification_id = d.id";

/// The kinds that a bucket is read with.
const WHOLE: &str = "d.kind IN ('bucket', 'input', 'output')";
/// The same where the buckets are a set. No index of kinds fits this text: for a set SQLite would
/// take that index, and read the buckets of all accounts.
const INSIDE: &str = "d.kind || '' IN ('bucket', 'input', 'output') AND d.parent_id IN ";
/// How many identifiers of a page a statement has at most.
const LONGEST_PAGE: usize = 1 << 30;

/// The question, and how its rows are read; none where there is nothing to find.
pub(crate) fn statement(find: Find) -> Option<(Query<'static>, ReadRow<Found>)> {
    let by_id = |DocumentKey { kind, id }| [Param::from(kind.as_str()), id.into()];
    let account = |account: AccountId| Param::from(account.as_uuid());
    Some(match find {
        Find::One(owner, key) => {
            let [kind, id] = by_id(key);
            of_kind(
                key.kind,
                "d.kind = ? AND d.id = ? AND d.account_id = ?",
                [kind, id, account(owner)],
            )
        }
        Find::Any(key) => of_kind(key.kind, "d.kind = ? AND d.id = ?", by_id(key)),
        Find::These(_, ids) if ids.is_empty() => return None,
        Find::These(DocumentKind::Bucket, ids) => {
            let (head, read) = select(DocumentKind::Output);
            let ids = ids.into_iter().map(Param::from);
            (over_set(&format!("{head} {INSIDE}"), [], ids, ""), read)
        }
        Find::These(kind, ids) => {
            let (head, read) = select(kind);
            let head = format!("{head} d.kind = ? AND d.id IN ");
            let ids = ids.into_iter().map(Param::from);
            (over_set(&head, [kind.as_str().into()], ids, ""), read)
        }
        Find::OfAccount(owner, kind, Page::ALL) => {
            let values = [account(owner), kind.as_str().into()];
            of_kind(kind, "d.account_id = ? AND d.kind = ? ORDER BY d.id", values)
        }
        // An output has several rows when it is paused: the page is one of identifiers.
        Find::OfAccount(owner, kind, page) => {
            let text = format!("d.kind = ? AND d.id IN {} ORDER BY d.id", ids_of(page));
            let values = [kind.as_str().into()].into_iter().chain(of_page(owner, kind, page));
            of_kind(kind, &text, values)
        }
        // The kind stands in the text, so that the index of its names is found.
        Find::Named(kind, owner, name) => {
            let owned = if owner.is_some() { " AND d.account_id = ?" } else { "" };
            let text = format!("d.kind = '{kind}' AND d.name = ?{owned}");
            of_kind(kind, &text, [name.into()].into_iter().chain(owner.map(account)))
        }
        Find::Users(kind, used) => {
            let text = "d.kind = ? AND d.id IN (SELECT user_id FROM document_use \
                WHERE used_kind = ? AND used_id = ? AND user_kind = ?)";
            let [used_kind, used_id] = by_id(used);
            of_kind(kind, text, [kind.as_str().into(), used_kind, used_id, kind.as_str().into()])
        }
        Find::Watched(kind, after, limit) => {
            let text = "d.watched AND d.kind = ? AND d.id > ? ORDER BY d.id LIMIT ?";
            let after = after.unwrap_or_default();
            of_kind(kind, text, [kind.as_str().into(), after.into(), Param::count(limit)])
        }
        Find::Bucket(owner, id) => {
            whole("d.parent_id = ? AND d.account_id = ?", [id.as_uuid().into(), account(owner)])
        }
        Find::BucketOf(key) => {
            let text = "d.parent_id = (SELECT parent_id FROM document \
                WHERE kind = ? AND id = ? AND deleted_at IS NULL)";
            whole(text, by_id(key))
        }
        Find::BucketNamed(owner, name) => {
            let text = "d.parent_id = (SELECT id FROM document \
                WHERE account_id = ? AND name = ? AND kind = 'bucket' AND deleted_at IS NULL)";
            whole(text, [account(owner), name.into()])
        }
        Find::Buckets(owner, Page::ALL) => whole("d.account_id = ?", [account(owner)]),
        Find::Buckets(owner, page) => {
            let values = of_page(owner, DocumentKind::Bucket, page);
            of_kind(DocumentKind::Output, &format!("{INSIDE}{}", ids_of(page)), values)
        }
        // What a later version asks.
        _ => return None,
    })
}

/// The identifiers of a page of documents. The second bound is a number in the text, so that
/// PostgreSQL knows that they are few; a power of two, so that there are few different texts.
fn ids_of(page: Page) -> String {
    let most = page.limit.min(LONGEST_PAGE).next_power_of_two();
    format!(
        "(SELECT id FROM (SELECT id FROM document WHERE account_id = ? AND kind = ? \
         AND deleted_at IS NULL ORDER BY id LIMIT ? OFFSET ?) AS page LIMIT {most})"
    )
}

/// The values of [`ids_of`].
fn of_page(owner: AccountId, kind: DocumentKind, page: Page) -> [Param<'static>; 4] {
    let (limit, offset) = (Param::count(page.limit), Param::count(page.offset));
    [owner.as_uuid().into(), kind.as_str().into(), limit, offset]
}

/// The versions of a document of an account, the newest first.
pub(crate) fn history(account: AccountId, key: DocumentKey) -> Query<'static> {
    let former = DOCUMENT
        .replace("d.version", "v.version")
        .replace("d.schema, d.json, d.sealed", "v.schema, v.json, v.sealed")
        .replace("d.updated_at", "v.updated_at");
    let place = "d.kind = ? AND d.id = ? AND d.account_id = ? AND d.deleted_at IS NULL";
    let present = &*DOCUMENT;
    let sql = format!(
        "SELECT {present} FROM document d WHERE {place} UNION ALL \
         SELECT {former} FROM document d JOIN document_version v \
         ON v.kind = d.kind AND v.id = d.id WHERE {place} ORDER BY version DESC"
    );
    let values = || [key.kind.as_str().into(), key.id.into(), account.as_uuid().into()];
    with(sql, values().into_iter().chain(values()))
}

/// A question about documents of one kind.
fn of_kind(
    kind: DocumentKind,
    condition: &str,
    values: impl IntoIterator<Item = Param<'static>>,
) -> (Query<'static>, ReadRow<Found>) {
    let (head, read) = select(kind);
    (with(format!("{head} {condition}"), values), read)
}

/// A question about buckets with their inputs and outputs.
fn whole(
    condition: &str,
    values: impl IntoIterator<Item = Param<'static>>,
) -> (Query<'static>, ReadRow<Found>) {
    of_kind(DocumentKind::Output, &format!("{WHOLE} AND {condition}"), values)
}

/// All before the condition, for a kind with its state.
fn select(kind: DocumentKind) -> (String, ReadRow<Found>) {
    let (columns, join, read): (_, _, ReadRow<Found>) = match kind {
        DocumentKind::Output => (OUTPUT, OUTPUT_JOIN, with_output),
        DocumentKind::Cron => (CRON, CRON_JOIN, with_cron),
        DocumentKind::Notification => (NOTIFICATION, NOTIFICATION_JOIN, with_notification),
        _ => ("", "", plain),
    };
    let document = &*DOCUMENT;
    let comma = if columns.is_empty() { "" } else { ", " };
    let head = format!(
        "SELECT {document}{comma}{columns} FROM document d {join} WHERE d.deleted_at IS NULL AND"
    );
    (head, read)
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    use webhook_core::BucketId;

    use super::*;
    use crate::{SecretKey, Storage, StorageOptions, fault::DatabaseError, tx::Read};

    async fn plan(storage: &Storage, find: Find) -> Result<String, DatabaseError> {
        let (query, _) = statement(find).expect("a question");
        let sql = format!("EXPLAIN QUERY PLAN {}", query.sql).into();
        let details = storage
            .database()
            .read
            .query(Query { sql, ..query }, |row| row.get::<String>("detail"));
        Ok(details.await?.join("\n"))
    }

    #[tokio::test]
    async fn what_is_read_is_found_by_an_index() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let url = format!("sqlite://{}", folder.path().join("webhooks.db").display());
        let options = StorageOptions::new(url.parse()?, SecretKey::generate()?);
        let storage = Storage::connect(&options).await?;
        let account = AccountId::generate();
        let ids: Vec<_> = (0..1_000).map(|_| BucketId::generate().as_uuid()).collect();
        let page = Page { offset: 10, limit: 10 };
        let of_account =
            "SEARCH document USING INDEX document_of_account (account_id=? AND kind=?)";
        let of_bucket = "SEARCH d USING INDEX document_of_parent (parent_id=?)";
        let by_id = "SEARCH d USING INDEX sqlite_autoindex_document_1 (kind=? AND id=?)";
        for (find, uses) in [
            (Find::Bucket(account, BucketId::generate()), &[of_bucket][..]),
            (Find::Buckets(account, page), &[of_bucket, of_account]),
            (Find::These(DocumentKind::Bucket, ids.clone()), &[of_bucket]),
            (Find::These(DocumentKind::Cron, ids), &[by_id]),
            (Find::OfAccount(account, DocumentKind::Cron, page), &[by_id, of_account]),
        ] {
            let text = format!("{find:?}").chars().take(80).collect::<String>();
            let plan = plan(&storage, find).await?;
            for index in uses {
                assert!(plan.contains(index), "{text}: {plan}");
            }
        }
        Ok(())
    }
}
