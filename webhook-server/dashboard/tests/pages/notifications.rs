//! What the account is told of.

use webhook_core::{
    Error,
    model::{BucketSpec, NotificationEvent},
};

use crate::harness::House;

#[tokio::test]
async fn a_notification_is_made_tried_changed_and_deleted() -> Result<(), Error> {
    let house = House::build().await?;
    let (admin, path) = (house.webhooks.admin(), "/dashboard/notifications");
    let ops = admin.create_bucket(&house.me, BucketSpec::new("ops")).await?.id.to_string();
    let empty = house.get(path).await.expect(200);
    assert!(empty.texts(".empty")[0].starts_with("There are no notifications yet"));
    let form = house.get(&format!("{path}/new")).await.expect(200);
    assert!(form.text.contains("output.failing\n"), "all events are there to begin with");

    let mut fields = vec![
        ("events", "output.failing\noutput.lost"),
        ("to_bucket", &*ops),
        ("min_interval", "15m"),
    ];
    let wrong = house.post(&format!("{path}/new"), &fields).await.expect(400);
    assert!(wrong.text.contains("output.lost"), "{}", wrong.text);
    fields[0].1 = "output.failing\noutput.recovered";
    let nowhere = [fields[0], ("to_bucket", ""), fields[2]];
    let nowhere = house.post(&format!("{path}/new"), &nowhere).await.expect(400);
    assert!(nowhere.text.contains("must not be empty"), "{}", nowhere.text);
    fields.push(("buckets", "orders"));
    house.post(&format!("{path}/new"), &fields).await.expect(303);

    let made = admin.notifications(&house.me).await?.remove(0);
    assert_eq!(made.spec.buckets, [house.bucket.id.to_string()]);
    let list = house.get(path).await.expect(200);
    assert_eq!(list.texts("a.row"), ["output.failing, output.recovered"]);
    assert_eq!(list.texts("td")[..3], ["orders", "ops", "✓ on"]);
    let one = format!("{path}/{}", made.id);
    let page = house.get(&one).await.expect(200);
    assert!(page.texts("textarea").contains(&"orders".to_owned()), "{}", page.text);
    house.post(&format!("{one}/test"), &[]).await.expect(303);
    let logs = house.get("/dashboard/webhooks?bucket=ops").await.expect(200);
    assert_eq!(logs.texts("tbody tr").len(), 1, "the test came into the bucket");

    fields[0].1 = "output.paused";
    fields.push(("disabled", "true"));
    house.post(&one, &fields).await.expect(303);
    let spec = admin.notification(&house.me, made.id).await?.spec;
    assert_eq!((&*spec.events, spec.disabled), (&[NotificationEvent::OutputPaused][..], true));
    house.post(&format!("{one}/delete"), &[]).await.expect(303);
    assert!(admin.notifications(&house.me).await?.is_empty());
    house.get(&one).await.expect(404);
    Ok(())
}
