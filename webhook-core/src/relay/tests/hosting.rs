//! Requests that name a reserved domain as their host.

use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;

use super::*;
use crate::{
    id::DomainId,
    model::{Domain, DomainSpec, MinTls},
    relay::DomainService,
    store::DomainStore,
};

const NAME: &str = "shop.example.com";

/// Counts how often a name is looked up.
#[derive(Debug)]
struct Counting {
    inner: Arc<dyn DomainStore>,
    lookups: AtomicUsize,
}

#[async_trait]
impl DomainStore for Counting {
    async fn create_domain(&self, domain: &Domain) -> Result<(), Error> {
        self.inner.create_domain(domain).await
    }

    async fn domain(&self, account: AccountId, id: DomainId) -> Result<Option<Domain>, Error> {
        self.inner.domain(account, id).await
    }

    async fn domain_by_name(&self, name: &str) -> Result<Option<Domain>, Error> {
        self.lookups.fetch_add(1, Ordering::SeqCst);
        self.inner.domain_by_name(name).await
    }

    async fn domains(&self, account: AccountId) -> Result<Vec<Domain>, Error> {
        self.inner.domains(account).await
    }

    async fn inputs_of_domain(&self, account: AccountId, name: &str) -> Result<Vec<Input>, Error> {
        self.inner.inputs_of_domain(account, name).await
    }

    async fn delete_domain(&self, account: AccountId, id: DomainId) -> Result<(), Error> {
        self.inner.delete_domain(account, id).await
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

async fn reserve(stores: &Stores, account: AccountId, name: &str) -> Domain {
    let domain = Domain {
        id: DomainId::generate(),
        account_id: account,
        created_at: START,
        updated_at: START,
        spec: DomainSpec { domain: name.to_owned() },
    };
    stores.domains.create_domain(&domain).await.expect("a new domain");
    domain
}

async fn domain(relay: &Relay, host: &str) -> Option<DomainService> {
    relay.ingest().domain(host).await.expect("the store answers")
}

async fn post(service: &DomainService, path: &str) -> (StatusCode, String) {
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
    world.stores.inputs.create_input(account, &whole).await.expect("a new input");
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
    world.stores.inputs.update_input(account, &moved).await.expect("the input is there");
    world.relay.bucket_changed(&world.bucket);
    assert_eq!(post(&before, "/").await.0, 404, "a service that was asked for before");
    let after = domain(&world.relay, NAME).await.expect("reserved");
    assert_eq!(post(&after, "/").await.0, 404);
}

#[tokio::test(start_paused = true)]
async fn the_strictest_input_decides_about_tls() {
    let world = world(at(NAME, "", false)).await;
    let account = world.bucket.account_id;
    reserve(&world.stores, account, NAME).await;
    assert!(!domain(&world.relay, NAME).await.expect("reserved").requires_tls13());
    let spec = InputSpec { tls_version: Some(MinTls::Tls13), ..at(NAME, "/a", false) };
    let strict = Input { id: InputId::generate(), spec, ..input(&world) };
    world.stores.inputs.create_input(account, &strict).await.expect("a new input");
    world.relay.domain_changed(NAME);
    assert!(domain(&world.relay, NAME).await.expect("reserved").requires_tls13());
}

/// A relay whose look-ups are counted.
fn counted(world: &World, options: RelayOptions) -> (Relay, Arc<Counting>) {
    let inner = world.stores.domains.clone();
    let counting = Arc::new(Counting { inner, lookups: AtomicUsize::new(0) });
    let stores = Stores { domains: counting.clone(), ..world.stores.clone() };
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
    let account = reserved.account_id;
    world.stores.domains.delete_domain(account, reserved.id).await.expect("it is there");
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
    let account = reserved.account_id;
    world.stores.domains.delete_domain(account, reserved.id).await.expect("it is there");
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
