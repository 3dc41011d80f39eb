//! All certificates: which one is used for which name, and their files.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use rustls::{
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use webhook_core::relay::host_name;

use super::certificate::{Pair, Stamp, Unusable};
use crate::config::TlsConfig;

/// How many domains may have a certificate of their own.
const MAX_DOMAINS: usize = 10_000;

/// The certificates that handshakes choose from. Each is replaced while the server runs.
#[derive(Debug)]
pub(crate) struct Certificates {
    /// The server's own, for every name without another one.
    own: RwLock<Arc<CertifiedKey>>,
    /// Those of domains.
    domains: RwLock<HashMap<String, Arc<CertifiedKey>>>,
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let of_domain = hello.server_name().and_then(host_name).and_then(|name| {
            let domains = self.domains.read().unwrap_or_else(PoisonError::into_inner);
            domains.get(&*name).cloned()
        });
        let own = || Arc::clone(&self.own.read().unwrap_or_else(PoisonError::into_inner));
        Some(of_domain.unwrap_or_else(own))
    }
}

#[cfg(feature = "dashboard")]
impl Certificates {
    /// The last second of the certificate of a domain's own; none where it has none, or one
    /// that does not say it.
    pub(crate) fn end(&self, domain: &str) -> Option<webhook_core::Timestamp> {
        let domains = self.domains.read().unwrap_or_else(PoisonError::into_inner);
        super::validity::end(domains.get(domain)?.cert.first()?)
    }
}

/// The files of certificates, and how they looked when they were read.
#[derive(Debug)]
pub(super) struct Files {
    /// The server's own certificate and key.
    own: Pair,
    /// How these two files looked.
    own_stamps: [Option<Stamp>; 2],
    /// The folder with the certificates of domains.
    folder: Option<PathBuf>,
    /// Whether the folder could not be read the last time. The log says it once.
    folder_failed: bool,
    /// How the files of each domain looked.
    domains: BTreeMap<String, [Option<Stamp>; 2]>,
    /// Where certificates are put when they have been read.
    certificates: Arc<Certificates>,
}

impl Files {
    /// Reads everything for the first time; none without a certificate of the
    /// server's own.
    ///
    /// # Errors
    /// When the server's own cannot be used. A domain's that cannot is left out,
    /// and the log says why.
    pub(super) fn open(config: &TlsConfig) -> Result<Option<Self>, Unusable> {
        let (Some(certificate), Some(key)) = (&config.tls_cert, &config.tls_key) else {
            return Ok(None);
        };
        let own = Pair { certificate: certificate.clone(), key: key.clone() };
        let own_stamps = own.stamps();
        let loaded = Arc::new(own.load(None)?);
        let certificates = Certificates { own: RwLock::new(loaded), domains: RwLock::default() };
        let mut files = Self {
            own,
            own_stamps,
            folder: config.tls_domains_dir.clone(),
            folder_failed: false,
            domains: BTreeMap::new(),
            certificates: Arc::new(certificates),
        };
        files.look_at_domains();
        Ok(Some(files))
    }

    pub(super) fn certificates(&self) -> Arc<Certificates> {
        Arc::clone(&self.certificates)
    }

    /// Uses the certificates whose files have changed. One that cannot be used leaves the
    /// former certificate in place, and the log says so once.
    pub(super) fn look_again(&mut self) {
        let stamps = self.own.stamps();
        if stamps != self.own_stamps {
            self.own_stamps = stamps;
            match self.own.load(None) {
                Ok(loaded) => {
                    let mut own =
                        self.certificates.own.write().unwrap_or_else(PoisonError::into_inner);
                    *own = Arc::new(loaded);
                    tracing::info!("the server's certificate was loaded again");
                }
                Err(error) => {
                    tracing::warn!(%error, "the server's former certificate stays in use");
                }
            }
        }
        self.look_at_domains();
    }

    fn look_at_domains(&mut self) {
        let Some(folder) = &self.folder else { return };
        let found = match pairs(folder) {
            Ok(found) => found,
            Err(error) => {
                if !self.folder_failed {
                    let folder = folder.display();
                    tracing::warn!(%error, %folder, "cannot look for certificates of domains");
                }
                self.folder_failed = true;
                return;
            }
        };
        self.folder_failed = false;
        self.domains.retain(|name, _| {
            let stays = found.contains_key(name);
            if !stays {
                let domains = &self.certificates.domains;
                domains.write().unwrap_or_else(PoisonError::into_inner).remove(name);
                tracing::info!(domain = name, "the domain's certificate is gone");
            }
            stays
        });
        for (name, pair) in found {
            let stamps = pair.stamps();
            if self.domains.get(&name) == Some(&stamps) {
                continue;
            }
            match pair.load(Some(&name)) {
                Ok(loaded) => {
                    let domains = &self.certificates.domains;
                    let mut domains = domains.write().unwrap_or_else(PoisonError::into_inner);
                    domains.insert(name.clone(), Arc::new(loaded));
                    tracing::info!(domain = name, "the domain's certificate was loaded");
                }
                Err(error) => {
                    tracing::warn!(%error, domain = name, "the domain's certificate is not used");
                }
            }
            self.domains.insert(name, stamps);
        }
    }
}

/// The pairs in a folder, by domain.
fn pairs(folder: &Path) -> std::io::Result<BTreeMap<String, Pair>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let certificate = entry?.path();
        if certificate.extension().is_none_or(|extension| extension != "crt") {
            continue;
        }
        let stem = certificate.file_stem().and_then(|stem| stem.to_str());
        let Some(name) = stem.and_then(host_name) else { continue };
        if found.len() >= MAX_DOMAINS {
            tracing::warn!("only the certificates of {MAX_DOMAINS} domains are used");
            break;
        }
        let key = certificate.with_extension("key");
        found.insert(name.into_owned(), Pair { certificate, key });
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
