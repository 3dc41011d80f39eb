use rcgen::{CertifiedKey as Made, KeyPair, generate_simple_self_signed};
use tempfile::TempDir;

use super::*;

type Tested = Result<(), Box<dyn std::error::Error>>;

struct World {
    folder: TempDir,
    config: TlsConfig,
}

impl World {
    fn new() -> std::io::Result<Self> {
        let folder = TempDir::new()?;
        let domains = folder.path().join("domains");
        std::fs::create_dir(&domains)?;
        let config = TlsConfig {
            tls_cert: Some(folder.path().join("own.crt")),
            tls_key: Some(folder.path().join("own.key")),
            tls_domains_dir: Some(domains),
            tls_reload_interval: std::time::Duration::from_secs(1),
            tls_handshake_timeout: std::time::Duration::from_secs(1),
            max_tls_handshakes: 1,
        };
        Ok(Self { folder, config })
    }

    /// Puts a file in the place of the former one, as tools that renew do.
    fn write(&self, path: &str, text: &str) -> std::io::Result<()> {
        let new = self.folder.path().join("new");
        std::fs::write(&new, text)?;
        std::fs::rename(new, self.folder.path().join(path))
    }

    fn write_pair(&self, path: &str, made: &Made<KeyPair>) -> std::io::Result<()> {
        self.write(&format!("{path}.crt"), &made.cert.pem())?;
        self.write(&format!("{path}.key"), &made.signing_key.serialize_pem())
    }
}

fn made(name: &str) -> Made<KeyPair> {
    generate_simple_self_signed([name.to_owned()]).expect("a certificate")
}

impl Files {
    fn own_is(&self, made: &Made<KeyPair>) -> bool {
        let own = self.certificates.own.read().expect("nobody panics");
        own.cert.first() == Some(made.cert.der())
    }

    fn domain_is(&self, name: &str, made: Option<&Made<KeyPair>>) -> bool {
        let domains = self.certificates.domains.read().expect("nobody panics");
        let shown = domains.get(name).and_then(|key| key.cert.first());
        shown == made.map(|made| made.cert.der())
    }
}

#[test]
fn the_servers_own_must_be_usable_at_the_start() -> Tested {
    let world = World::new()?;
    let refused = |config: &TlsConfig| match Files::open(config) {
        Err(error) => error.to_string(),
        Ok(_) => String::new(),
    };
    assert!(refused(&world.config).contains("cannot read"));
    let (one, other) = (made("a.example"), made("a.example"));
    world.write("own.crt", "no certificate")?;
    world.write("own.key", "no key")?;
    assert!(refused(&world.config).contains("own.crt has no PEM certificate"));
    world.write("own.crt", &one.cert.pem())?;
    assert!(refused(&world.config).contains("own.key has no PEM private key"));
    world.write("own.key", &other.signing_key.serialize_pem())?;
    assert!(!refused(&world.config).is_empty(), "the key of another certificate");
    world.write("own.crt", &"x".repeat((1 << 20) + 1))?;
    assert!(refused(&world.config).contains("longer than"));
    world.write_pair("own", &one)?;
    assert_eq!(refused(&world.config), "");

    let none = TlsConfig { tls_cert: None, tls_key: None, ..world.config };
    assert!(Files::open(&none)?.is_none());
    Ok(())
}

#[test]
fn a_renewed_certificate_is_taken_and_a_broken_one_is_not() -> Tested {
    let world = World::new()?;
    let (first, second, third) = (made("a.example"), made("a.example"), made("a.example"));
    world.write_pair("own", &first)?;
    let mut files = Files::open(&world.config)?.ok_or("there is a certificate")?;
    files.look_again();
    assert!(files.own_is(&first));
    world.write_pair("own", &second)?;
    assert!(files.own_is(&first));
    files.look_again();
    assert!(files.own_is(&second));

    for broken in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        world.write("own.crt", broken)?;
        files.look_again();
        assert!(files.own_is(&second));
    }
    // Half renewed: certificate and key do not belong together.
    world.write("own.crt", &third.cert.pem())?;
    files.look_again();
    assert!(files.own_is(&second));
    world.write("own.key", &third.signing_key.serialize_pem())?;
    files.look_again();
    assert!(files.own_is(&third));
    std::fs::remove_file(world.folder.path().join("own.crt"))?;
    files.look_again();
    assert!(files.own_is(&third));
    Ok(())
}

#[test]
fn domains_come_change_and_go() -> Tested {
    let world = World::new()?;
    world.write_pair("own", &made("own.example"))?;
    let (first, second) = (made("shop.example.com"), made("shop.example.com"));
    let name = "shop.example.com";
    world.write_pair("domains/shop.example.com", &first)?;
    world.write_pair("domains/Other.example.com", &made("other.example.com"))?;
    world.write_pair("domains/wrong.example.com", &first)?;
    world.write_pair("domains/nodot", &first)?;
    world.write("domains/half.example.com.crt", &first.cert.pem())?;
    world.write("domains/readme.txt", "not a certificate")?;
    let mut files = Files::open(&world.config)?.ok_or("there is a certificate")?;
    let names = |files: &Files| {
        let domains = files.certificates.domains.read().expect("nobody panics");
        let mut names: Vec<_> = domains.keys().cloned().collect();
        names.sort();
        names
    };
    assert_eq!(names(&files), ["other.example.com", name]);
    assert!(files.domain_is(name, Some(&first)));

    world.write("domains/shop.example.com.crt", "broken")?;
    files.look_again();
    assert!(files.domain_is(name, Some(&first)));
    world.write_pair("domains/shop.example.com", &second)?;
    world.write_pair("domains/new.example.com", &made("new.example.com"))?;
    files.look_again();
    assert!(files.domain_is(name, Some(&second)));
    assert_eq!(names(&files), ["new.example.com", "other.example.com", name]);

    std::fs::remove_file(world.folder.path().join("domains/shop.example.com.crt"))?;
    files.look_again();
    assert!(files.domain_is(name, None));
    let moved = world.folder.path().join("elsewhere");
    std::fs::rename(world.folder.path().join("domains"), moved)?;
    files.look_again();
    assert_eq!(names(&files), ["new.example.com", "other.example.com"], "kept until it is back");
    Ok(())
}
