//! Cases for [`SessionStore`](webhook_core::store::SessionStore).
//!
//! All of them are at one moment: a session that begins removes all others that ended before it.

use std::time::Duration;

use webhook_core::{AccountId, Timestamp, TokenId, model::Session, store::Stores};

use super::sample::{NOW, ODD_TEXT};

const BOUND: usize = 3;

/// A session of a random identifier.
fn session(account: AccountId, begun: Timestamp) -> Session {
    let mut hash = [7; 32];
    hash[..16].copy_from_slice(TokenId::generate().as_uuid().as_bytes());
    Session::new(hash, account, begun)
}

async fn begin(stores: &Stores, session: &Session) {
    stores.sessions.begin_session(session, BOUND).await.expect("the session is new");
}

async fn begun(stores: &Stores, account: AccountId, at: Timestamp) -> Session {
    let session = session(account, at);
    begin(stores, &session).await;
    session
}

async fn find(stores: &Stores, session: &Session) -> Option<Session> {
    stores.sessions.session(&session.id_hash).await.expect("a session can be read")
}

/// Every field survives.
pub async fn every_field_of_a_session_round_trips(stores: &Stores) {
    let account = AccountId::generate();
    let plain = begun(stores, account, NOW).await;
    let mut odd = session(account, NOW);
    odd.credential = ODD_TEXT.to_owned();
    odd.seen_at = NOW + Duration::from_millis(1);
    odd.ends_at = NOW + Duration::from_millis(2);
    odd.address = "2001:db8::1".to_owned();
    odd.agent = ODD_TEXT.to_owned();
    begin(stores, &odd).await;
    for session in [plain, odd] {
        assert_eq!(find(stores, &session).await, Some(session));
    }
}

/// An ended session is absent, and to end it once more changes nothing.
pub async fn a_session_that_ended_is_absent(stores: &Stores) {
    let account = AccountId::generate();
    let [ended, other] = [begun(stores, account, NOW).await, begun(stores, account, NOW).await];
    for _ in 0..2 {
        stores.sessions.end_session(&ended.id_hash).await.expect("a session can be ended");
        assert_eq!(find(stores, &ended).await, None);
    }
    assert_eq!(find(stores, &other).await, Some(other));
}

/// The time of the last page is written to the session alone, and to no session that is absent.
pub async fn the_time_of_the_last_page_is_noted(stores: &Stores) {
    let account = AccountId::generate();
    let [mut seen, other] = [begun(stores, account, NOW).await, begun(stores, account, NOW).await];
    seen.seen_at = NOW + Duration::from_secs(600);
    for hash in [seen.id_hash, session(account, NOW).id_hash] {
        stores.sessions.note_seen(&hash, seen.seen_at).await.expect("the time can be noted");
    }
    assert_eq!(find(stores, &seen).await, Some(seen));
    assert_eq!(find(stores, &other).await, Some(other));
}

/// A session that begins removes the sessions of all accounts that ended before.
pub async fn sessions_that_ended_go_when_one_begins(stores: &Stores) {
    let mut over = session(AccountId::generate(), NOW);
    over.ends_at = NOW;
    let mut unused = session(AccountId::generate(), NOW);
    unused.seen_at = Timestamp::from_millis(NOW.as_millis() - Session::IDLE.as_millis() as i64);
    let mut used = session(AccountId::generate(), NOW);
    used.seen_at = unused.seen_at + Duration::from_millis(1);
    for session in [&over, &unused, &used] {
        begin(stores, session).await;
    }
    begun(stores, AccountId::generate(), NOW).await;
    assert_eq!(find(stores, &over).await, None);
    assert_eq!(find(stores, &unused).await, None);
    assert_eq!(find(stores, &used).await, Some(used));
}

/// Above the bound the session goes that was seen longest ago; other accounts keep theirs.
pub async fn an_account_has_so_many_sessions_at_most(stores: &Stores) {
    let (account, other) = (AccountId::generate(), AccountId::generate());
    let kept = begun(stores, other, NOW).await;
    let mut sessions = Vec::new();
    for second in 0..4 {
        sessions.push(begun(stores, account, NOW + Duration::from_secs(second)).await);
    }
    assert_eq!(find(stores, &sessions[0]).await, None);
    for session in sessions.split_off(1).into_iter().chain([kept]) {
        assert_eq!(find(stores, &session).await, Some(session));
    }
}
