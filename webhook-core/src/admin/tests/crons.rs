use super::*;
use crate::{
    CronId,
    model::{CronSpec, Headers},
    store::AdvanceCron,
};

fn daily() -> CronSpec {
    CronSpec {
        name: "nightly".to_owned(),
        schedule: "0 3 * * *".to_owned(),
        destination: "https://example.com/".to_owned(),
        ..CronSpec::default()
    }
}

fn invalid<T: fmt::Debug>(result: Result<T, Error>) -> String {
    let error = result.expect_err("it is refused");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    error.to_string()
}

#[tokio::test(start_paused = true)]
async fn the_relay_is_told_of_new_and_changed_crons() -> Result<(), Error> {
    let House { admin, told, caller, .. } = house().await;
    let BucketCron { cron, bucket } = admin.create_cron(&caller, daily()).await?;
    assert_eq!(Some(told.last()), bucket);
    let elsewhere = CronSpec { destination: "https://example.org/".into(), ..daily() };
    let changed = admin.update_cron(&caller, cron.id, elsewhere).await?;
    let output = &changed.bucket.as_ref().expect("it is there").outputs[0];
    assert_eq!(output.spec.destination, "https://example.org/");
    assert_eq!(told.last().outputs[0], *output);
    assert_eq!(told.4.load(Ordering::Relaxed), 2);
    admin.delete_cron(&caller, cron.id).await?;
    assert_eq!(told.last().id, cron.bucket_id);
    assert_eq!(told.count(), 3);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_update_that_changes_no_time_keeps_a_run_that_is_due() -> Result<(), Error> {
    let House { admin, caller, .. } = house().await;
    let cron = admin.create_cron(&caller, daily()).await?.cron;
    // Nobody runs it: it is late when the update comes.
    tokio::time::advance(Duration::from_secs(2 * 86_400)).await;
    let renamed = CronSpec { name: "other".to_owned(), payload: "x".to_owned(), ..daily() };
    let updated = admin.update_cron(&caller, cron.id, renamed).await?.cron;
    assert_eq!(updated.next_run, cron.next_run);
    let moved = CronSpec { schedule: "0 4 * * *".to_owned(), ..daily() };
    let updated = admin.update_cron(&caller, cron.id, moved).await?.cron;
    assert!(updated.next_run > Some(cron.created_at + Duration::from_secs(2 * 86_400)));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_the_caller_did_to_the_output_stays() -> Result<(), Error> {
    let House { admin, stores, caller, .. } = house().await;
    let (id, spec) = (FunctionId::generate(), FunctionSpec::default());
    let function = Function::new(id, caller.account_id(), Timestamp::default(), spec);
    stores.documents.create(function.account_id, &function).await?;
    let spec = CronSpec { function_id: Some(function.id), ..daily() };
    let BucketCron { cron, bucket } = admin.create_cron(&caller, spec.clone()).await?;
    let output = bucket.expect("it is there").outputs.remove(0);
    assert_eq!((output.spec.function_id, output.cron_id), (Some(function.id), Some(cron.id)));
    let mut own = output.spec.clone();
    own.retries = 7;
    own.name = "mine".to_owned();
    admin.update_output(&caller, cron.bucket_id, output.id, own.clone()).await?;
    let updated = admin.update_cron(&caller, cron.id, daily()).await?.bucket;
    let expected = OutputSpec { function_id: None, ..own };
    assert_eq!(updated.expect("it is there").outputs[0].spec, expected);
    Ok(())
}

#[tokio::test]
async fn crons_and_their_bounds() -> Result<(), Error> {
    let options = AdminOptions {
        max_crons_per_account: 2,
        min_cron_period: Duration::from_secs(60),
        ..AdminOptions::default()
    };
    let House { admin, caller, .. } = house_with(options).await;
    let often = CronSpec { schedule: "@every 59s".to_owned(), ..daily() };
    assert!(invalid(admin.create_cron(&caller, often).await).starts_with("schedule: "));
    let mut host = daily();
    host.headers = serde_json::from_str::<Headers>(r#"{"host":"x"}"#).expect("headers");
    assert!(invalid(admin.create_cron(&caller, host).await).starts_with("headers.Host: "));
    let private = CronSpec { destination: "http://127.0.0.1/".to_owned(), ..daily() };
    assert!(invalid(admin.create_cron(&caller, private).await).starts_with("destination: "));
    let made = futures_util::future::join_all((0..6).map(|_| admin.create_cron(&caller, daily())));
    let made = made.await;
    assert_eq!(made.iter().filter(|made| made.is_ok()).count(), 2);
    for refused in made.into_iter().filter(Result::is_err) {
        assert!(invalid(refused).starts_with("crons: "));
    }
    assert_eq!(admin.buckets(&caller).await?.len(), 2);
    Ok(())
}

#[tokio::test]
async fn an_update_gives_way_to_a_run() -> Result<(), Error> {
    let House { admin, stores, caller, .. } = house().await;
    let cron = admin.create_cron(&caller, daily()).await?.cron;
    let from = cron.next_run.expect("enabled");
    for day in 1..20 {
        let (from, to) = (from + DAY * (day - 1), from + DAY * day);
        let step = AdvanceCron { id: cron.id, from, to: Some(to), is_over: false };
        let named = CronSpec { name: day.to_string(), ..daily() };
        let (updated, advanced) = tokio::join!(
            admin.update_cron(&caller, cron.id, named),
            stores.crons.advance_cron(step)
        );
        assert!(advanced?);
        updated?;
        let stored = admin.cron(&caller, cron.id).await?.cron;
        assert_eq!((stored.next_run, stored.spec.name), (Some(to), day.to_string()));
    }
    Ok(())
}

const DAY: Duration = Duration::from_secs(86_400);

#[tokio::test]
async fn missing_and_foreign_crons_are_not_found() -> Result<(), Error> {
    let House { admin, caller, .. } = house().await;
    let cron = admin.create_cron(&caller, daily()).await?.cron;
    let (second, _) = admin.create_account("second", None).await?;
    let second = Caller::for_account(second.id);
    for (caller, id) in [(&second, cron.id), (&caller, CronId::generate())] {
        assert_eq!(kind(admin.cron(caller, id).await), ErrorKind::NotFound);
        assert_eq!(kind(admin.update_cron(caller, id, daily()).await), ErrorKind::NotFound);
        assert_eq!(kind(admin.delete_cron(caller, id).await), ErrorKind::NotFound);
    }
    assert_eq!(admin.crons(&second).await?, []);
    Ok(())
}
