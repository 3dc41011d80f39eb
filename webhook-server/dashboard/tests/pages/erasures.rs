//! Erasures of many webhooks.

use webhook_core::Error;

use crate::harness::House;

#[tokio::test]
async fn what_the_filter_finds_is_erased_after_a_count() -> Result<(), Error> {
    let house = House::build().await?;
    let log = house.webhook().await;
    let list = house.get("/dashboard/webhooks?status=received&bucket=orders").await.expect(200);
    assert!(list.texts("a").contains(&"erase all that match".to_owned()));
    let path = "/dashboard/erasures/new";
    let form = house.get(&format!("{path}?search=17&from=2020-01-01")).await.expect(200);
    assert!(form.text.contains("value=\"2020-01-01\""), "{}", form.text);
    assert!(!form.text.contains("Erase them for good"), "first they are counted");
    let bucket = house.bucket.id.to_string();
    let fields = [("filter.bucket", &*bucket)];
    let plan = house.post(path, &fields).await.expect(200);
    let said = &plan.texts("[role=status] p")[0];
    assert!(said.starts_with("1 webhooks, found by 1 logs"), "{said}");
    assert!(plan.text.contains("Erase them for good"));
    house.get(&format!("/dashboard/webhooks/{}", log.delivery.id)).await.expect(200);
    let wrong = house.post(path, &[("filter.search", "ab")]).await.expect(400);
    assert!(!wrong.text.contains("Erase them for good"));
    let nothing = [("filter.bucket", &*bucket), ("filter.status", "failed"), ("then", "erase")];
    let nothing = house.post(path, &nothing).await.expect(400);
    assert!(nothing.text.contains("nothing is like that"), "{}", nothing.text);

    let made = house.post(path, &[fields[0], ("then", "erase")]).await.expect(303);
    let page = house.get(made.header("location")).await.expect(200);
    assert!(page.text.contains("0 of 1 erased"), "{}", page.text);
    let (_, key) = house.webhooks.admin().create_account("other", None).await?;
    let other = house.signed_in(key.key.expose(), "").await;
    house.get_as(&other, made.header("location")).await.expect(404);
    Ok(())
}
