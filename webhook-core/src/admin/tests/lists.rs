//! Pages of lists, and how fast lists grow.

use std::time::Instant;

use super::*;
use crate::{
    model::{CronSpec, TokenSpec},
    store::Page,
};

/// How many things a test makes, one after the other.
const MANY: usize = 20_000;
/// How many of them are timed together.
const BATCH: usize = 100;

/// Fails when the last of many take more than ten times as long as the first.
async fn expect_steady(what: &str, make: impl AsyncFn(usize) -> Result<(), Error>) {
    let mut took = Vec::new();
    for batch in 0..MANY / BATCH {
        let began = Instant::now();
        for number in 0..BATCH {
            make(batch * BATCH + number).await.expect("there is room");
        }
        took.push(began.elapsed());
    }
    // Other tests run concurrently: the fastest of several batches says what one costs.
    let fastest = |some: &[Duration]| some.iter().min().copied().expect("batches");
    let (first, last) = (fastest(&took[..20]), fastest(&took[took.len() - 20..]));
    println!("{what}: {first:?} for the first {BATCH}, {last:?} for the last");
    assert!(last < 10 * first, "{what}: {first:?} for {BATCH} of the first, {last:?} of the last");
}

#[tokio::test(start_paused = true)]
async fn the_last_of_many_is_made_as_fast_as_the_first() -> Result<(), Error> {
    let options = AdminOptions {
        max_buckets_per_account: 2 * MANY,
        max_crons_per_account: MANY,
        max_tokens_per_account: MANY,
        ..AdminOptions::default()
    };
    let House { admin, caller, stores, .. } = &house_with(options).await;
    expect_steady("buckets", async |number| {
        admin.create_bucket(caller, bucket_named(&number.to_string())).await.map(drop)
    })
    .await;
    expect_steady("crons", async |_| {
        let spec = CronSpec::new("@daily", "https://example.com/");
        admin.create_cron(caller, spec).await.map(drop)
    })
    .await;
    expect_steady("tokens", async |_| {
        admin.create_token(caller, TokenSpec::default()).await.map(drop)
    })
    .await;
    let usage = admin.usage(caller).await?;
    assert_eq!((usage.buckets, usage.tokens), (2 * MANY as u64, MANY as u64));
    assert_eq!(stores.tokens.token_count(caller.account_id()).await?, MANY as u64);

    // More crons than a statement has values.
    let crons = admin.crons(caller).await?;
    assert_eq!(crons.len(), MANY);
    assert!(crons.iter().all(|it| it.bucket.as_ref().map(|it| it.id) == Some(it.cron.bucket_id)));
    let page = Page { offset: MANY - 1, limit: 2 };
    assert_eq!(admin.crons_page(caller, page).await?, crons[MANY - 1..]);
    let buckets = admin.buckets_page(caller, page).await?;
    assert_eq!(buckets[0].spec.name, (MANY - 1).to_string());
    assert_eq!(buckets.len(), 2, "those of crons are later ones");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_bound_counts_what_is_there() -> Result<(), Error> {
    let options = AdminOptions {
        max_tokens_per_account: 2,
        max_buckets_per_account: 2,
        ..AdminOptions::default()
    };
    let House { admin, caller, .. } = &house_with(options).await;
    let mut made = Vec::new();
    for name in ["a", "b"] {
        made.push(admin.create_bucket(caller, bucket_named(name)).await?.id);
        admin.create_token(caller, TokenSpec::default()).await?;
    }
    // A refused bucket and a removed bucket are not counted.
    assert_eq!(kind(admin.create_bucket(caller, bucket_named("a")).await), ErrorKind::Conflict);
    assert_eq!(kind(admin.create_bucket(caller, bucket_named("c")).await), ErrorKind::Conflict);
    let refused = admin.create_token(caller, TokenSpec::default()).await;
    assert_eq!(kind(refused), ErrorKind::Conflict);
    admin.delete_bucket(caller, made[0], false).await?;
    admin.create_bucket(caller, bucket_named("a")).await?;
    let token = admin.tokens(caller).await?[0].id;
    admin.delete_token(caller, token).await?;
    assert_eq!(kind(admin.delete_token(caller, token).await), ErrorKind::NotFound);
    admin.create_token(caller, TokenSpec::default()).await?;
    assert_eq!(kind(admin.create_bucket(caller, bucket_named("c")).await), ErrorKind::Conflict);
    let usage = admin.usage(caller).await?;
    assert_eq!((usage.buckets, usage.inputs, usage.tokens), (2, 2, 2));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_search_for_a_loop_reads_a_thousand_inputs() -> Result<(), Error> {
    let options = AdminOptions { max_buckets_per_account: 2_000, ..AdminOptions::default() };
    let House { admin, caller, .. } = &house_with(options).await;
    let to = |bucket: &Bucket| {
        let destination = format!("https://relay.example/v1/webhooks/{}", bucket.inputs[0].id);
        OutputSpec { name: "on".to_owned(), destination, ..OutputSpec::default() }
    };
    let mut chain = Vec::new();
    for number in 0..1_002 {
        chain.push(admin.create_bucket(caller, bucket_named(&number.to_string())).await?);
    }
    for pair in chain.windows(2).rev() {
        let meant = caller.clone().allowing_loops(true);
        admin.create_output(&meant, pair[0].id, to(&pair[1])).await?;
    }
    let back = OutputSpec { name: "back".to_owned(), ..to(&chain[0]) };
    let refused = admin.create_output(caller, chain[999].id, back.clone()).await;
    assert_eq!(kind(refused), ErrorKind::Conflict, "the thousandth input is the last");
    admin.create_output(caller, chain[1_000].id, back).await?;
    Ok(())
}
