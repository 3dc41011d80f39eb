use std::{collections::VecDeque, time::Duration};

use crate::wire::described::check;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_util::future::join_all;
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use serde_json::{Value, json};
use url::form_urlencoded;

use super::*;
use crate::credentials::{ClientAuth, OAuth2Auth};

/// A server of tokens that answers as it was told, one after the other.
#[derive(Debug, Default)]
struct Server {
    answers: Mutex<VecDeque<Result<(u16, Value), String>>>,
    asked: Mutex<Vec<Question>>,
}

impl Server {
    fn new(answers: impl IntoIterator<Item = Result<(u16, Value), String>>) -> Arc<Self> {
        let answers = Mutex::new(answers.into_iter().collect());
        Arc::new(Self { answers, asked: Mutex::default() })
    }

    fn asked(&self) -> usize {
        self.asked.lock().expect("a lock").len()
    }

    fn form(&self, at: usize) -> HashMap<String, String> {
        let asked = self.asked.lock().expect("a lock");
        form_urlencoded::parse(&asked[at].body).into_owned().collect()
    }
}

#[async_trait]
impl Fetch for Server {
    async fn fetch(&self, question: Question) -> Result<Answer, String> {
        self.asked.lock().expect("a lock").push(question);
        tokio::time::sleep(Duration::from_millis(5)).await;
        let answer = self.answers.lock().expect("a lock").pop_front().expect("one more answer");
        let (status, body) = answer?;
        let status = StatusCode::from_u16(status).expect("a status");
        Ok(Answer { status, body: body.to_string().into() })
    }
}

fn granted(token: &str, expires_in: i64) -> Result<(u16, Value), String> {
    Ok((200, json!({"access_token": token, "token_type": "Bearer", "expires_in": expires_in})))
}

fn oauth2() -> AuthSpec {
    let spec = serde_json::from_value(json!({
        "type": "oauth2_client_credentials", "token_url": "https://auth.example/token",
        "client_id": "me: and", "client_secret": "s3cret/+", "scope": "a b", "audience": "api",
    }));
    let spec: AuthSpec = spec.expect("a spec");
    check(&spec, "auth.").expect("a right spec");
    spec
}

/// The same, changed.
fn with(change: impl Fn(&mut OAuth2Auth)) -> AuthSpec {
    let mut spec = oauth2();
    if let AuthSpec::Oauth2ClientCredentials(auth) = &mut spec {
        change(auth);
    }
    spec
}

async fn text(tokens: &Tokens, auth: &AuthSpec, now: i64) -> Result<String, String> {
    match tokens.token(b"account", auth, now).await {
        Ok(token) => Ok(token.expect("it needs one").expose().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

#[tokio::test(start_paused = true)]
async fn the_client_shows_its_secret_as_rfc_6749_says() {
    let server = Server::new([granted("t1", 3_600), granted("t2", 3_600)]);
    let tokens = Tokens::new(server.clone());
    assert_eq!(text(&tokens, &oauth2(), 0).await.as_deref(), Ok("t1"));
    let header = server.asked.lock().expect("a lock")[0].headers["authorization"].clone();
    // me%3A+and:s3cret%2F%2B
    assert_eq!(header, "Basic bWUlM0ErYW5kOnMzY3JldCUyRiUyQg==");
    let form = server.form(0);
    assert_eq!(form["grant_type"], "client_credentials");
    assert_eq!((&*form["scope"], &*form["audience"], form.len()), ("a b", "api", 3));

    let post = with(|auth| auth.client_auth = Some(ClientAuth::ClientSecretPost));
    assert_eq!(text(&tokens, &post, 0).await.as_deref(), Ok("t2"), "another way, another token");
    let form = server.form(1);
    assert_eq!((&*form["client_id"], &*form["client_secret"]), ("me: and", "s3cret/+"));
    assert!(!server.asked.lock().expect("a lock")[1].headers.contains_key("authorization"));
}

#[tokio::test(start_paused = true)]
async fn a_token_is_kept_until_shortly_before_it_expires() {
    let server = Server::new([granted("t1", 3_600), granted("t2", 20), granted("t3", 0)]);
    let tokens = Tokens::new(server.clone());
    for (now, token, asked) in
        [(0, "t1", 1), (3_539, "t1", 1), (3_540, "t2", 2), (3_557, "t2", 2), (3_558, "t3", 3)]
    {
        assert_eq!(text(&tokens, &oauth2(), now).await.as_deref(), Ok(token), "at {now}");
        assert_eq!(server.asked(), asked, "at {now}");
    }
}

#[tokio::test(start_paused = true)]
async fn of_many_that_need_a_token_one_asks() {
    let server = Server::new([granted("t1", 3_600), Ok((503, json!({}))), granted("t2", 60)]);
    let (tokens, auth) = (Tokens::new(server.clone()), oauth2());
    let all = join_all((0..1_000).map(|_| text(&tokens, &auth, 0))).await;
    assert!(all.iter().all(|token| token.as_deref() == Ok("t1")));
    assert_eq!(server.asked(), 1);

    // All get the same failure, and the next one asks again.
    let all = join_all((0..1_000).map(|_| text(&tokens, &auth, 9_999))).await;
    assert!(all.iter().all(|it| it.as_ref().err().is_some_and(|it| it.contains("503"))));
    assert_eq!(server.asked(), 2);
    assert_eq!(text(&tokens, &auth, 9_999).await.as_deref(), Ok("t2"));
}

#[tokio::test(start_paused = true)]
async fn who_stops_waiting_disturbs_nobody() {
    let server = Server::new([granted("t1", 3_600), granted("t2", 3_600)]);
    let (tokens, auth) = (Tokens::new(server.clone()), oauth2());
    let short = tokio::time::timeout(Duration::from_millis(1), text(&tokens, &auth, 0));
    let (short, long) = tokio::join!(short, text(&tokens, &auth, 0));
    assert!(short.is_err());
    assert_eq!((long.as_deref(), server.asked()), (Ok("t1"), 1));

    // When all stop waiting, the next one starts anew.
    let now = 9_999;
    let waiting = tokio::time::timeout(Duration::from_millis(1), text(&tokens, &auth, now));
    assert!(waiting.await.is_err());
    assert_eq!(text(&tokens, &auth, now).await.as_deref(), Ok("t2"));
    assert_eq!(server.asked(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_refused_token_is_replaced_once_in_ten_seconds() {
    let server = Server::new((1..=4).map(|number| granted(&format!("t{number}"), 3_600)));
    let (tokens, auth) = (Tokens::new(server.clone()), oauth2());
    let get = async |now| tokens.token(b"a", &auth, now).await.expect("a token").expect("one");
    let first = get(0).await;
    assert!(tokens.refused(b"a", &auth, &first, 5));
    let second = get(5).await;
    assert_eq!(second.expose(), "t2");
    assert!(tokens.refused(b"a", &auth, &first, 5), "somebody has replaced it already");
    assert_eq!(get(5).await.expose(), "t2");
    assert!(!tokens.refused(b"a", &auth, &second, 14));
    assert_eq!(get(14).await.expose(), "t2");
    assert!(tokens.refused(b"a", &auth, &second, 15));
    assert_eq!(get(15).await.expose(), "t3");
    assert_eq!(server.asked(), 3);
}

#[tokio::test(start_paused = true)]
async fn accounts_share_no_token() {
    let server = Server::new([granted("t1", 3_600), granted("t2", 3_600)]);
    let (tokens, auth) = (Tokens::new(server), oauth2());
    for (owner, text) in [(b"a", "t1"), (b"b", "t2"), (b"a", "t1")] {
        let token = tokens.token(owner, &auth, 0).await.expect("a token").expect("one");
        assert_eq!(token.expose(), text);
    }
}

#[tokio::test(start_paused = true)]
async fn failures_say_what_happened_without_the_secret() {
    let refused = json!({"error": "invalid_client", "error_description": "no such client\n"});
    let echo = json!({"error": "invalid_client", "error_description": "s3cret/+ is wrong"});
    let long = json!({"error": "x".repeat(1_000)});
    let mac = json!({"access_token": "a", "token_type": "mac"});
    let answered = "the token server answered ";
    let answer = "the answer of the token server ";
    for (answer, said) in [
        (Ok((401, refused)), format!("{answered}401: invalid_client: no such client")),
        (Ok((400, echo)), format!("{answered}400: invalid_client")),
        (Ok((400, long)), format!("{answered}400: {}", "x".repeat(200))),
        (Ok((302, json!({}))), format!("{answered}302")),
        (Ok((500, json!("<html>"))), format!("{answered}500")),
        (Ok((200, json!([]))), format!("{answer}is not a JSON object of RFC 6749")),
        (Ok((200, json!({}))), format!("{answer}has no access_token")),
        (Ok((200, mac)), format!("{answer}has a token_type other than Bearer")),
        (
            Ok((200, json!({"access_token": "a\nb"}))),
            "the token that was answered cannot be sent".to_owned(),
        ),
        (
            Err("connection refused".to_owned()),
            "no token could be asked for: connection refused".to_owned(),
        ),
    ] {
        let tokens = Tokens::new(Server::new([answer]));
        assert_eq!(text(&tokens, &oauth2(), 0).await, Err(said));
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_tokens_are_kept_than_there_is_room_for() {
    let answers = (0..MAX_TOKENS as i64 + 2).map(|number| granted("t", 100_000 - number));
    let tokens = Tokens::new(Server::new(answers));
    for number in 0..MAX_TOKENS + 2 {
        let auth = with(|auth| auth.client_id = number.to_string());
        assert_eq!(text(&tokens, &auth, 0).await.as_deref(), Ok("t"));
    }
    assert_eq!(tokens.slots().len(), MAX_TOKENS);
    let first = with(|auth| auth.client_id = "0".to_owned());
    assert!(tokens.slots().contains_key(&key(b"account", &first)), "it expires last");
}

fn google(rest: Value) -> AuthSpec {
    let account = json!({
        "type": "service_account", "client_email": "me@project.iam.gserviceaccount.com",
        "private_key_id": "k1", "private_key": include_str!("test_key.pem"),
        "token_uri": "https://oauth2.example/token",
    });
    let mut spec = json!({"type": "gcp_service_account", "service_account": account.to_string()});
    spec.as_object_mut().expect("an object").extend(rest.as_object().expect("one").clone());
    serde_json::from_value(spec).expect("a spec")
}

#[tokio::test(start_paused = true)]
async fn google_gets_a_signed_assertion() {
    let claims = URL_SAFE_NO_PAD.encode(json!({"exp": 2_000}).to_string());
    let id_token = format!("h.{claims}.s");
    let server = Server::new([
        granted("access", 3_599),
        Ok((200, json!({"id_token": id_token}))),
        Ok((200, json!({"access_token": "of the wrong kind"}))),
    ]);
    let tokens = Tokens::new(server.clone());
    let by_scope = google(json!({"scope": "https://www.googleapis.com/auth/pubsub"}));
    check(&by_scope, "auth.").expect("a right spec");
    assert_eq!(text(&tokens, &by_scope, 1_000).await.as_deref(), Ok("access"));
    let by_audience = google(json!({"target_audience": "https://service.run.app"}));
    check(&by_audience, "auth.").expect("a right spec");
    for now in [1_000, 1_939] {
        assert_eq!(text(&tokens, &by_audience, now).await.as_ref(), Ok(&id_token), "at {now}");
    }
    let error = text(&tokens, &by_audience, 1_940).await.expect_err("it has expired");
    assert_eq!(error, "the answer of the token server has no id_token");

    let claimed = [
        ("scope", "https://www.googleapis.com/auth/pubsub"),
        ("target_audience", "https://service.run.app"),
    ];
    for (at, (claim, value)) in claimed.into_iter().enumerate() {
        let form = server.form(at);
        assert_eq!(form["grant_type"], "urn:ietf:params:oauth:grant-type:jwt-bearer");
        let (signed, signature) = form["assertion"].rsplit_once('.').expect("three parts");
        let signature = URL_SAFE_NO_PAD.decode(signature).expect("base64");
        UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, include_bytes!("test_key.pub.der"))
            .verify(signed.as_bytes(), &signature)
            .expect("it is signed by the account");
        let (header, claims) = signed.split_once('.').expect("two parts");
        let json = |part| -> Value {
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).expect("base64")).expect("JSON")
        };
        assert_eq!(json(header), json!({"alg": "RS256", "typ": "JWT", "kid": "k1"}));
        let expected = json!({
            "iss": "me@project.iam.gserviceaccount.com", "aud": "https://oauth2.example/token",
            "iat": 1_000, "exp": 4_600, claim: value,
        });
        assert_eq!(json(claims), expected);
    }
}

#[test]
fn a_token_of_google_is_for_a_scope_or_for_an_audience() {
    let error = |rest| check(&google(rest), "auth.").expect_err("not both, not none").to_string();
    assert!(error(json!({})).starts_with("auth.scope: must not be empty unless"));
    let both = json!({"scope": "a", "target_audience": "b"});
    assert!(error(both).starts_with("auth.target_audience: cannot be set together"));
}
