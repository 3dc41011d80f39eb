//! Requests that name a reserved domain as their host.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;

use super::*;
use crate::{
    id::DomainId,
    model::{Domain, DomainSpec, MinTls},
    relay::IngestService,
    store::{ApplyError, Document, DocumentKey, DocumentKind, DocumentStore, Find},
};

const NAME: &str = "shop.example.com";

/// Counts how often a name is looked up.
#[derive(Debug)]
struct Counting {
    inner: Arc<dyn DocumentStore>,
    lookups: AtomicUsize,
}

#[async_trait]
impl DocumentStore for Counting {
    async fn find(&self, find: Find) -> Result<Vec<Document>, Error> {
        if matches!(find, Find::Named(DocumentKind::Domain, ..)) {
            self.lookups.fetch_add(1, Ordering::SeqCst);
        }
        self.inner.find(find).await
    }

    async fn apply(&self, changes: &[Change]) -> Result<(), ApplyError> {
        self.inner.apply(changes).await
    }

    async fn counts(&self, account: AccountId) -> Result<Vec<(DocumentKind, u64)>, Error> {
        self.inner.counts(account).await
    }

    async fn history(&self, account: AccountId, key: DocumentKey) -> Result<Vec<Document>, Error> {
        self.inner.history(account, key).await
    }
}

fn at(domain: &str, prefix: &str, strip: bool) -> InputSpec {
    InputSpec {
        custom_domain: domain.to_owned(),
        path_prefix: prefix.to_owned(),
        strip_path_prefix: strip,
        ..InputSpec::default()
    }
}

async fn world(input: InputSpec) -> World {
    World::with(BucketSpec::default(), input, RelayOptions::default()).await
}

/// Gives a domain back.
async fn give_back(stores: &Stores, domain: &Domain) {
    let gone = stores.documents.delete::<Domain>(domain.account_id, domain.id.as_uuid());
    gone.await.expect("the domain exists");
}

/// Reserves a domain for an account, whose inputs that name it are at it from then on.
async fn reserve(stores: &Stores, account: AccountId, name: &str) -> Domain {
    let domain = Domain {
        id: DomainId::generate(),
        account_id: account,
        version: 1,
        created_at: START,
        updated_at: START,
        spec: DomainSpec { domain: name.to_owned() },
    };
    stores.documents.create(domain.account_id, &domain).await.expect("a new domain");
    for bucket in stores.documents.buckets(account).await.expect("readable") {
        for mut input in bucket.inputs {
            if input.spec.custom_domain == name {
                input.domain_id = Some(domain.id);
                stores.documents.update_input(account, &input).await.expect("it is there");
            }
        }
    }
    domain
}

async fn domain(relay: &Relay, host: &str) -> Option<IngestService> {
    relay.ingest().domain(host).await.expect("the store answers")
}

async fn post(service: &IngestService, path: &str) -> (StatusCode, String) {
    let request = http::Request::post(path).header("host", NAME).body(Full::from("x"));
    let answer = service.clone().call(request.expect("a request")).await.expect("infallible");
    let status = answer.status();
    let body = answer.into_body().collect().await.expect("infallible").to_bytes();
    (status, String::from_utf8_lossy(&body).into_owned())
}

#[tokio::test(start_paused = true)]
async fn a_webhook_goes_to_the_input_of_the_prefix() {
    let mut world = world(at(NAME, "/a", true)).await;
    let account = world.bucket.account_id;
    let whole = Input { id: InputId::generate(), spec: at(NAME, "", false), ..input(&world) };
    world.stores.documents.create_input(account, &whole).await.expect("a new input");
    reserve(&world.stores, account, NAME).await;
    world.output_to(HOOK).await;
    world.deliver().await;
    let service = domain(&world.relay, "SHOP.example.com.:8443").await.expect("reserved");
    for path in ["/a/b%2F?q=1", "/ab", "/"] {
        assert_eq!(post(&service, path).await.0, 200, "{path}");
    }
    world.forwarder.finished(3).await;
    let requests = world.forwarder.requests();
    let mut urls: Vec<_> = requests.iter().map(|request| request.url.to_string()).collect();
    urls.sort();
    assert_eq!(urls, [HOOK.to_owned(), format!("{HOOK}/ab"), format!("{HOOK}/b%2F?q=1")]);
    assert!(requests.iter().all(|request| request.headers["x-forwarded-host"] == NAME));
    world.stop().await;
}

fn input(world: &World) -> Input {
    world.bucket.inputs[0].clone()
}

#[tokio::test(start_paused = true)]
async fn without_a_match_it_is_404() {
    let world = world(at(NAME, "/a", true)).await;
    reserve(&world.stores, world.bucket.account_id, NAME).await;
    let service = domain(&world.relay, NAME).await.expect("reserved");
    // The address of an input is only a path here.
    for path in ["/", "/ab", &world.address()] {
        let expected = (StatusCode::NOT_FOUND, "there is no input at this address".to_owned());
        assert_eq!(post(&service, path).await, expected, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn inputs_of_another_account_have_no_part_in_a_domain() {
    let world = world(at(NAME, "", false)).await;
    reserve(&world.stores, AccountId::generate(), NAME).await;
    let service = domain(&world.relay, NAME).await.expect("reserved");
    assert_eq!(post(&service, "/").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test(start_paused = true)]
async fn an_input_that_has_left_the_domain_gets_nothing_from_it() {
    let world = world(at(NAME, "", false)).await;
    let account = world.bucket.account_id;
    reserve(&world.stores, account, NAME).await;
    let before = domain(&world.relay, NAME).await.expect("reserved");
    assert_eq!(post(&before, "/").await.0, 200);
    let mut moved = input(&world);
    moved.spec.custom_domain = "other.example.com".to_owned();
    moved.version = 2;
    world.stores.documents.update_input(account, &moved).await.expect("the input is there");
    world.relay.bucket_changed(&world.bucket);
    assert_eq!(post(&before, "/").await.0, 404, "a service that was asked for before");
    let after = domain(&world.relay, NAME).await.expect("reserved");
    assert_eq!(post(&after, "/").await.0, 404);
}

#[tokio::test(start_paused = true)]
async fn the_strictest_input_decides_about_tls() {
    let world = world(at(NAME, "", false)).await;
    let account = world.bucket.account_id;
    let reserved = reserve(&world.stores, account, NAME).await;
    assert!(!domain(&world.relay, NAME).await.expect("reserved").requires_tls13());
    let spec = InputSpec { tls_version: Some(MinTls::Tls13), ..at(NAME, "/a", false) };
    let domain_id = Some(reserved.id);
    let strict = Input { id: InputId::generate(), spec, domain_id, ..input(&world) };
    world.stores.documents.create_input(account, &strict).await.expect("a new input");
    world.relay.domain_changed(NAME);
    assert!(domain(&world.relay, NAME).await.expect("reserved").requires_tls13());
}

/// A relay whose look-ups are counted.
fn counted(world: &World, options: RelayOptions) -> (Relay, Arc<Counting>) {
    let inner = world.stores.documents.clone();
    let counting = Arc::new(Counting { inner, lookups: AtomicUsize::new(0) });
    let stores = Stores { documents: counting.clone(), ..world.stores.clone() };
    let relay = Webhooks::builder(stores)
        .forwarder(world.forwarder.clone())
        .clock(TokioClock::starting_at(START))
        .options(options)
        .build()
        .relay()
        .clone();
    (relay, counting)
}

#[tokio::test(start_paused = true)]
async fn a_name_is_looked_up_once_until_it_changes() {
    let world = world(InputSpec::default()).await;
    let (relay, counting) = counted(&world, RelayOptions::default());
    let lookups = || counting.lookups.load(Ordering::SeqCst);
    for host in ["127.0.0.1:8080", "[::1]", "localhost", "", "not a host", "*.example.com"] {
        assert!(domain(&relay, host).await.is_none());
    }
    assert_eq!(lookups(), 0);
    for host in [NAME, "Shop.example.com", "shop.example.com:80", "shop.example.com."] {
        assert!(domain(&relay, host).await.is_none());
    }
    assert_eq!(lookups(), 1);
    let reserved = reserve(&world.stores, world.bucket.account_id, NAME).await;
    relay.domain_changed(NAME);
    for _ in 0..3 {
        assert!(domain(&relay, NAME).await.is_some());
    }
    assert_eq!(lookups(), 2);
    give_back(&world.stores, &reserved).await;
    relay.domain_changed(NAME);
    assert!(domain(&relay, NAME).await.is_none());
    assert_eq!(lookups(), 3);
}

#[tokio::test(start_paused = true)]
async fn with_an_age_limit_a_name_is_looked_up_again() {
    let world = world(InputSpec::default()).await;
    let options =
        RelayOptions { route_max_age: Some(Duration::from_secs(5)), ..RelayOptions::default() };
    let (relay, counting) = counted(&world, options);
    assert!(domain(&relay, NAME).await.is_none());
    // Another process writes to the same store.
    let reserved = reserve(&world.stores, world.bucket.account_id, NAME).await;
    tokio::time::advance(Duration::from_secs(5)).await;
    assert!(domain(&relay, NAME).await.is_none());
    tokio::time::advance(Duration::from_millis(1)).await;
    assert!(domain(&relay, NAME).await.is_some());
    give_back(&world.stores, &reserved).await;
    tokio::time::advance(Duration::from_millis(5_001)).await;
    assert!(domain(&relay, NAME).await.is_none());
    assert_eq!(counting.lookups.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn made_up_names_do_not_push_out_those_that_are_there() {
    let world = world(InputSpec::default()).await;
    reserve(&world.stores, world.bucket.account_id, NAME).await;
    let options = RelayOptions { cached_domains: 10, ..RelayOptions::default() };
    let (relay, counting) = counted(&world, options);
    assert!(domain(&relay, NAME).await.is_some());
    for n in 0..1_000 {
        assert!(domain(&relay, &format!("n{n}.example.com")).await.is_none());
    }
    assert!(domain(&relay, NAME).await.is_some());
    assert_eq!(counting.lookups.load(Ordering::SeqCst), 1_001);
    let held = relay.receiver.domains.absent_len();
    assert!(held <= 10, "{held} names are kept");
}
