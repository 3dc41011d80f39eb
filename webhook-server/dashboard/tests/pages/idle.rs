//! What the dashboard costs while nobody looks at it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    body::Body,
    http::{Method, StatusCode},
};
use http_body_util::BodyExt;
use tokio::{runtime::Handle, time::sleep};
use tower_service::Service;
use webhook_core::Error;
use webhook_dashboard::{Dashboard, DashboardOptions, SessionKey};

use crate::harness::House;

/// Whatever reads the log asks before whether anything happened, and whatever could read it by
/// itself is a task.
#[tokio::test(start_paused = true)]
async fn with_nobody_watching_nothing_is_asked_and_nothing_runs() -> Result<(), Error> {
    let mut house = House::build().await?;
    house.webhook().await;
    let asked = Arc::new(AtomicUsize::new(0));
    let mut options = DashboardOptions::new(SessionKey::new([7; 32]));
    options.activity = Some(Arc::new({
        let asked = Arc::clone(&asked);
        move || {
            asked.fetch_add(1, Ordering::Relaxed);
            0
        }
    }));
    let tasks = || Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    let dashboard = Dashboard::new(house.webhooks.clone(), options);
    house.router = dashboard.router();
    sleep(Duration::from_secs(3_600)).await;
    assert_eq!((asked.load(Ordering::Relaxed), tasks()), (0, before), "nobody looked yet");

    let request = house.request(Method::GET, "/dashboard/webhooks/live", &house.cookie);
    let request = request.body(Body::empty()).expect("a request");
    let answer = house.router.clone().call(request).await.expect("infallible");
    assert_eq!(answer.status(), StatusCode::OK);
    let mut live = answer.into_body();
    live.frame().await.expect("the list").expect("its bytes");
    // It says now and then that it is there, and looks in between.
    live.frame().await.expect("a sign of life").expect("its bytes");
    let looked = asked.load(Ordering::Relaxed);
    assert!(looked > 0);

    drop(live);
    sleep(Duration::from_secs(3_600)).await;
    assert_eq!((asked.load(Ordering::Relaxed), tasks()), (looked, before), "nobody looks any more");
    Ok(())
}
