//! Two webhooks side by side.

use axum::http::Request;
use webhook_core::Error;

use crate::harness::House;

#[tokio::test]
async fn what_differs_is_marked_and_the_order_of_fields_does_not_count() -> Result<(), Error> {
    let house = House::build().await?;
    let path = format!("/v1/webhooks/{}", house.bucket.inputs[0].id);
    let mut logs = Vec::new();
    for (header, body) in [("1", r#"{"a":1,"b":2,"c":"<i>"}"#), ("2", r#"{"c":"<i>","b":3,"a":1}"#)]
    {
        let request = Request::post(&path).header("x-version", header).header("x-same", "s");
        logs.push(house.receive(request, body.into()).await.delivery.id);
    }
    let (a, b) = (logs[0], logs[1]);
    let page = house.get(&format!("/dashboard/compare?a={a}&b={b}")).await.expect(200);
    assert_eq!(page.texts(".diff del"), ["- \"b\": 2,"]);
    assert_eq!(page.texts(".diff ins"), ["+ \"b\": 3,"]);
    assert_eq!(page.texts("tr.differs"), ["X-Version ≠ differs12"]);
    let same = house.get(&format!("/dashboard/compare?a={a}&b={a}")).await.expect(200);
    assert!(same.texts("tr.differs, .diff ins, .diff del").is_empty());
    let choice = house.get(&format!("/dashboard/compare?a={a}")).await.expect(200);
    assert_eq!(choice.texts("#b option").len(), 2);
    house.get("/dashboard/compare").await.expect(404);
    let nothing = "00000000-0000-0000-0000-000000000000";
    house.get(&format!("/dashboard/compare?a={a}&b={nothing}")).await.expect(404);
    Ok(())
}
