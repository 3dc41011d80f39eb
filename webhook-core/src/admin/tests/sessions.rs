use std::net::IpAddr;

use super::*;
use crate::model::{Session, TokenSpec};

#[tokio::test(start_paused = true)]
async fn a_session_says_who_signed_in_where_and_ends_at_once() -> Result<(), Error> {
    let house = house().await;
    let admin = &house.admin;
    let new = admin.create_token(&house.caller, TokenSpec::default()).await?;
    let caller = admin.authenticate(&new.token.id.to_string(), new.secret.expose()).await?;
    let agent = format!("Browser\u{1b}[31m {}", "x".repeat(300));
    let id = admin.begin_session(&caller, Some(IpAddr::from([203, 0, 113, 7])), &agent).await?;
    let session = admin.session(&caller, &id).await?.expect("it has begun");
    assert_eq!(session.credential, format!("token {}", new.token.id));
    assert_eq!(session.address, "203.0.113.7");
    assert_eq!(session.agent.chars().count(), Session::MAX_AGENT_CHARS);
    assert!(session.agent.starts_with("Browser[31m xxx"), "{}", session.agent);

    assert_eq!(admin.session(&caller, "another").await?, None);
    let (other, _) = admin.create_account("other", None).await?;
    assert_eq!(admin.session(&Caller::for_account(other.id), &id).await?, None);

    admin.end_session(&id).await?;
    assert_eq!(admin.session(&caller, &id).await?, None);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_use_of_a_session_is_noted_every_five_minutes() -> Result<(), Error> {
    let house = house().await;
    let admin = &house.admin;
    let id = admin.begin_session(&house.caller, None, "").await?;
    let begun = admin.session(&house.caller, &id).await?.expect("it has begun");
    for (passed, noted) in [(299, 0), (1, 300), (100, 300), (250, 650)] {
        tokio::time::advance(Duration::from_secs(passed)).await;
        let session = admin.session(&house.caller, &id).await?.expect("it goes on");
        admin.note_session(&session).await?;
        let session = admin.session(&house.caller, &id).await?.expect("it goes on");
        assert_eq!(session.seen_at, begun.seen_at + Duration::from_secs(noted), "{passed}");
    }
    tokio::time::advance(Session::IDLE).await;
    assert_eq!(admin.session(&house.caller, &id).await?, None);
    Ok(())
}
