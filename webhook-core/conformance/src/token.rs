//! Cases for [`TokenStore`](webhook_core::store::TokenStore).

use webhook_core::{
    AccountId, ErrorKind, TokenId,
    model::{AccessToken, ApiAccess, TokenScopes, TokenSpec},
    store::{Page, Stores},
};

use super::sample::{
    NOW, ODD_TEXT, after, expect_conflict, expect_every_field, expect_not_found, expect_one_winner,
    race, with,
};

fn token(account: AccountId) -> AccessToken {
    AccessToken {
        id: TokenId::generate(),
        account_id: account,
        secret_hash: std::array::from_fn(|index| 255 - index as u8),
        spec: TokenSpec::default(),
        created_at: NOW,
        updated_at: NOW,
        last_login: None,
    }
}

async fn create(stores: &Stores, token: &AccessToken) {
    let created = stores.tokens.create_token(token, 100).await;
    assert!(created.expect("the token is new"), "there is room for it");
}

async fn find(stores: &Stores, id: TokenId) -> Option<AccessToken> {
    stores.tokens.token(id).await.expect("the token can be looked up")
}

async fn list(stores: &Stores, account: AccountId) -> Vec<AccessToken> {
    stores.tokens.tokens(account, Page::ALL).await.expect("tokens can be listed")
}

fn odd_spec(api_access: ApiAccess) -> TokenSpec {
    let texts = || vec![ODD_TEXT.to_owned(), String::new(), "name".to_owned()];
    let scopes = TokenScopes { buckets: texts(), tunnels: vec!["[\"]".to_owned()] };
    with(TokenSpec::default(), |spec| {
        spec.description = ODD_TEXT.to_owned();
        spec.scopes = scopes;
        spec.api_access = api_access;
    })
}

/// Every field survives.
pub async fn every_field_of_a_token_round_trips(stores: &Stores) {
    let account = AccountId::generate();
    expect_every_field(&[odd_spec(ApiAccess::Enabled)]);
    assert_eq!(find(stores, TokenId::generate()).await, None);
    assert_eq!(list(stores, account).await, []);
    let mut tokens = Vec::new();
    for api_access in [ApiAccess::None, ApiAccess::Disabled, ApiAccess::Enabled] {
        let token = AccessToken {
            spec: odd_spec(api_access),
            updated_at: after(3),
            secret_hash: [tokens.len() as u8; 32],
            last_login: (!tokens.is_empty()).then(|| after(tokens.len() as u64)),
            ..token(account)
        };
        create(stores, &token).await;
        assert_eq!(find(stores, token.id).await.as_ref(), Some(&token));
        tokens.push(token);
    }
    assert_eq!(list(stores, account).await, tokens);
}

/// The list is in ID order, whatever the order of creation, and so is a page of it.
pub async fn tokens_are_listed_in_id_order(stores: &Stores) {
    let account = AccountId::generate();
    let tokens = [(); 4].map(|()| token(account));
    for index in [2, 0, 3, 1] {
        create(stores, &tokens[index]).await;
    }
    create(stores, &token(AccountId::generate())).await;
    assert_eq!(list(stores, account).await, tokens);
    for (offset, limit, part) in [(0, 2, 0..2), (1, 2, 1..3), (3, 9, 3..4), (4, 1, 4..4)] {
        let page = stores.tokens.tokens(account, Page { offset, limit }).await;
        assert_eq!(page.expect("tokens can be listed"), tokens[part], "{offset}, {limit}");
    }
}

/// A taken ID is refused, to its own account as well, and changes nothing.
pub async fn taken_token_id_is_a_conflict(stores: &Stores) {
    let first = token(AccountId::generate());
    create(stores, &first).await;
    for account_id in [first.account_id, AccountId::generate()] {
        let second = AccessToken { account_id, secret_hash: [1; 32], ..first.clone() };
        expect_conflict(stores.tokens.create_token(&second, 100).await);
    }
    assert_eq!(find(stores, first.id).await, Some(first));
}

/// A caller changes what it may write; the secret and the creation stay.
pub async fn update_keeps_the_secret_of_a_token(stores: &Stores) {
    let stored =
        AccessToken { spec: odd_spec(ApiAccess::Disabled), ..token(AccountId::generate()) };
    create(stores, &stored).await;
    for spec in [TokenSpec::default(), odd_spec(ApiAccess::Enabled)] {
        let update = AccessToken {
            spec,
            secret_hash: [7; 32],
            created_at: after(8),
            updated_at: after(9),
            last_login: Some(after(10)),
            ..stored.clone()
        };
        stores.tokens.update_token(&update).await.expect("the token is there");
        let expected = AccessToken {
            secret_hash: stored.secret_hash,
            created_at: stored.created_at,
            last_login: None,
            ..update
        };
        assert_eq!(find(stores, stored.id).await, Some(expected));
    }
}

/// A login is noted, the latest in place of those before, and nothing else changes.
pub async fn logins_of_a_token_are_noted(stores: &Stores) {
    let account = AccountId::generate();
    let (shown, other) = (token(account), token(account));
    create(stores, &shown).await;
    create(stores, &other).await;
    for at in [after(3), after(5)] {
        stores.tokens.note_login(shown.id, at).await.expect("it is noted");
        let expected = AccessToken { last_login: Some(at), ..shown.clone() };
        assert_eq!(find(stores, shown.id).await, Some(expected));
    }
    assert_eq!(find(stores, other.id).await, Some(other));
    let gone = TokenId::generate();
    stores.tokens.note_login(gone, after(1)).await.expect("nothing to note");
    assert_eq!(find(stores, gone).await, None);
}

/// A token that is not there, or is another account's, is neither changed nor removed.
pub async fn update_or_delete_of_no_token_is_not_found(stores: &Stores) {
    let stored = token(AccountId::generate());
    create(stores, &stored).await;
    let other = AccountId::generate();
    let theirs =
        AccessToken { account_id: other, spec: odd_spec(ApiAccess::None), ..stored.clone() };
    expect_not_found(stores.tokens.update_token(&theirs).await);
    expect_not_found(stores.tokens.update_token(&token(stored.account_id)).await);
    expect_not_found(stores.tokens.delete_token(other, stored.id).await);
    expect_not_found(stores.tokens.delete_token(stored.account_id, TokenId::generate()).await);
    assert_eq!(find(stores, stored.id).await, Some(stored));
}

/// A deleted token is gone, once.
pub async fn deleted_token_is_gone(stores: &Stores) {
    let account = AccountId::generate();
    let (stays, goes) = (token(account), token(account));
    create(stores, &stays).await;
    create(stores, &goes).await;
    stores.tokens.delete_token(account, goes.id).await.expect("the token is there");
    assert_eq!(find(stores, goes.id).await, None);
    assert_eq!(list(stores, account).await, [stays]);
    expect_not_found(stores.tokens.delete_token(account, goes.id).await);
    expect_not_found(stores.tokens.update_token(&goes).await);
}

/// Of several tokens with one ID that are made at once one is stored.
pub async fn concurrent_tokens_with_one_id_store_one(stores: &Stores) {
    let first = token(AccountId::generate());
    let results = race(6, |number| {
        let store = stores.tokens.clone();
        let token = AccessToken { secret_hash: [number as u8; 32], ..first.clone() };
        async move {
            let created = store.create_token(&token, 100).await;
            created.map(|created| {
                assert!(created, "there is room for it");
                token
            })
        }
    })
    .await;
    let winner = results.iter().find_map(|result| result.as_ref().ok()).cloned();
    expect_one_winner(results, ErrorKind::Conflict);
    assert_eq!(find(stores, first.id).await, winner);
}

/// Tokens are counted by account.
pub async fn tokens_are_counted(stores: &Stores) {
    let account = AccountId::generate();
    let count = || async { stores.tokens.token_count(account).await.expect("a count") };
    assert_eq!(count().await, 0);
    let tokens = [(); 3].map(|()| token(account));
    for token in &tokens {
        create(stores, token).await;
    }
    create(stores, &token(AccountId::generate())).await;
    assert_eq!(count().await, 3);
    stores.tokens.delete_token(account, tokens[0].id).await.expect("the token is there");
    assert_eq!(count().await, 2);
}

/// Concurrent creations of tokens fill the bound exactly, and a removal makes room.
pub async fn concurrent_tokens_hold_their_bound(stores: &Stores) {
    let (account, other) = (AccountId::generate(), AccountId::generate());
    create(stores, &token(other)).await;
    let make = async || {
        let results = race(8, |_| {
            let (store, token) = (stores.tokens.clone(), token(account));
            async move { store.create_token(&token, 3).await.expect("the token is new") }
        });
        results.await.into_iter().filter(|created| *created).count()
    };
    assert_eq!(make().await, 3);
    let stored = list(stores, account).await;
    assert_eq!(stored.len(), 3);
    assert_eq!(make().await, 0, "there is no room");
    assert_eq!(list(stores, account).await, stored);
    stores.tokens.delete_token(account, stored[0].id).await.expect("the token is there");
    assert_eq!(make().await, 1, "a removal makes room");
    assert_eq!(stores.tokens.token_count(account).await.expect("a count"), 3);
}
