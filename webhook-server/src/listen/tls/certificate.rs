//! One certificate with its key, from two files.

use std::{
    fs::Metadata,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::SystemTime,
};

use rustls::{
    client::verify_server_name,
    crypto::ring::default_provider,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
    server::ParsedCertificate,
    sign::CertifiedKey,
};

/// Longer files are no certificates.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Where a certificate and its key are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

/// What tells a changed file from one that is the same. Links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    modified: Option<SystemTime>,
    /// When anything about the file changed, which a copy cannot set.
    changed: (i64, i64),
    length: u64,
    inode: u64,
}

/// Why a pair cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is longer than {MAX_FILE_BYTES} bytes", .0.display())]
    TooLong(PathBuf),
    #[error("{} has no PEM certificate: {reason}", path.display())]
    Certificate { path: PathBuf, reason: String },
    #[error("{} has no PEM private key: {reason}", path.display())]
    Key { path: PathBuf, reason: String },
    #[error("{} and {}: {reason}", certificate.display(), key.display())]
    Pair { certificate: PathBuf, key: PathBuf, reason: String },
}

impl Pair {
    /// What both files look like; none for one that is not there.
    pub(super) fn stamps(&self) -> [Option<Stamp>; 2] {
        [&self.certificate, &self.key]
            .map(|path| std::fs::metadata(path).ok().map(|metadata| Stamp::of(&metadata)))
    }

    /// The certificate, which must belong to the key, and to `name` if there is one.
    pub(super) fn load(&self, name: Option<&str>) -> Result<CertifiedKey, Unusable> {
        let pem = read(&self.certificate)?;
        let no_certificate =
            |reason: String| Unusable::Certificate { path: self.certificate.clone(), reason };
        let chain: Vec<_> = CertificateDer::pem_slice_iter(&pem)
            .collect::<Result<_, _>>()
            .map_err(|error| no_certificate(error.to_string()))?;
        let first = chain.first().ok_or_else(|| no_certificate("it is empty".to_owned()))?;
        if let Some(name) = name {
            check_name(first, name).map_err(|error| no_certificate(error.to_string()))?;
        }
        let key = PrivateKeyDer::from_pem_slice(&read(&self.key)?)
            .map_err(|error| Unusable::Key { path: self.key.clone(), reason: error.to_string() })?;
        CertifiedKey::from_der(chain, key, &default_provider()).map_err(|error| Unusable::Pair {
            certificate: self.certificate.clone(),
            key: self.key.clone(),
            reason: error.to_string(),
        })
    }
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            modified: metadata.modified().ok(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            length: metadata.len(),
            inode: metadata.ino(),
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Unusable> {
    let failed = |source| Unusable::Read { path: path.to_owned(), source };
    if std::fs::metadata(path).map_err(failed)?.len() > MAX_FILE_BYTES {
        return Err(Unusable::TooLong(path.to_owned()));
    }
    std::fs::read(path).map_err(failed)
}

fn check_name(certificate: &CertificateDer<'_>, name: &str) -> Result<(), rustls::Error> {
    let name = ServerName::try_from(name)
        .map_err(|_| rustls::Error::General(format!("{name} is no name of a server")))?;
    verify_server_name(&ParsedCertificate::try_from(certificate)?, &name)
}
