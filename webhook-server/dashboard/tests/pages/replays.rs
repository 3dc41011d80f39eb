//! Replays of many webhooks.

use webhook_core::Error;

use crate::harness::House;

#[tokio::test]
async fn a_replay_is_tried_started_and_changed() -> Result<(), Error> {
    let house = House::build().await?;
    let log = house.webhook().await;
    let empty = house.get("/dashboard/replays").await.expect(200);
    assert!(empty.texts(".empty")[0].starts_with("There are no replays yet"));
    let list = house.get("/dashboard/webhooks?status=received&bucket=orders").await.expect(200);
    let link = list.texts("a").into_iter().find(|it| it == "send all that match again");
    assert!(link.is_some());

    // The filters of the list are those of the form.
    let path = "/dashboard/replays/new";
    let form = house.get(&format!("{path}?search=17&from=2020-01-01")).await.expect(200);
    assert!(form.text.contains("value=\"2020-01-01\""), "{}", form.text);
    let bucket = house.bucket.id.to_string();
    let fields = [("filter.bucket", &*bucket), ("rate", "7"), ("interval", "minute")];
    let plan = house.post(path, &fields).await.expect(200);
    assert!(plan.texts("[role=status] p")[0].starts_with("1 logs of 1 webhooks"), "{}", plan.text);
    assert_eq!(plan.texts("[role=status] li"), ["1 to orders › shop"]);
    assert!(plan.text.contains("value=\"7\""), "what was typed stays");
    let admin = house.webhooks.admin();
    assert!(admin.replays(&house.me, None, 10).await?.is_empty(), "nothing was started");

    // What is wrong is said in the API's words, at its field.
    let wrong = house.post(path, &[("filter.bucket", &*bucket), ("rate", "0")]).await.expect(400);
    assert!(wrong.texts(".field .error, .error").iter().any(|it| it.contains("from 1 to 10000")));
    let nothing = [("filter.bucket", &*bucket), ("filter.status", "failed"), ("then", "start")];
    let nothing = house.post(path, &nothing).await.expect(400);
    assert!(nothing.text.contains("nothing is like that"), "{}", nothing.text);

    let mut start = fields.to_vec();
    start.push(("then", "start"));
    let made = house.post(path, &start).await.expect(303);
    let replay = admin.replays(&house.me, None, 10).await?.remove(0);
    let path = format!("/dashboard/replays/{}", replay.id);
    assert!(made.header("location").starts_with(&path));
    let page = house.get(&path).await.expect(200);
    assert!(page.texts(".sentence")[0].starts_with("bucket orders; 7 per minute"), "{}", page.text);
    house.post(&path, &[("rate", "9"), ("interval", "hour")]).await.expect(303);
    assert_eq!(admin.replay(&house.me, replay.id).await?.spec.rate, 9);
    house.post(&path, &[("rate", "many")]).await.expect(400);
    let status = format!("{path}/status");
    for word in ["paused", "running", "cancelled"] {
        house.post(&status, &[("status", word)]).await.expect(303);
        assert_eq!(admin.replay(&house.me, replay.id).await?.status.as_str(), word);
    }
    house.post(&status, &[("status", "running")]).await.expect(412);
    house.post(&status, &[("status", "lost")]).await.expect(400);
    let list = house.get("/dashboard/replays").await.expect(200);
    assert_eq!(list.texts("td .mark"), ["– cancelled"]);
    house.get(&format!("/dashboard/replays/{}", log.delivery.id)).await.expect(404);
    Ok(())
}
