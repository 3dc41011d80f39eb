//! What went wrong with TLS, in words. The texts of the library name its types.

use std::io;

use rustls::{AlertDescription, CertificateError, Error, InvalidMessage};

/// Why a handshake failed.
pub(super) fn of_handshake(error: &io::Error) -> String {
    match of(error) {
        Some(words) => words,
        None if error.kind() == io::ErrorKind::UnexpectedEof => {
            "tls: the destination closed the connection before TLS began".to_owned()
        }
        None => format!("tls: {}", super::failure::describe_io(error)),
    }
}

/// What an error of a connection says about TLS; none when it is about something else.
pub(super) fn of(error: &io::Error) -> Option<String> {
    let cause = error.get_ref()?.downcast_ref::<Error>()?;
    Some(format!("tls: {}", words(cause)))
}

/// Whether a certificate was refused because it is its own authority.
pub(super) fn is_own_authority(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(other)) = error else { return false };
    // The crate with the type of this error is none of ours; its text is the variant's name.
    other.0.to_string() == "CaUsedAsEndEntity"
}

fn words(error: &Error) -> &'static str {
    match error {
        error if is_own_authority(error) => {
            "the certificate is self-signed: it is its own authority, and no trusted one"
        }
        Error::InvalidCertificate(certificate) => of_certificate(certificate),
        Error::AlertReceived(alert) => of_alert(*alert),
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "the destination does not speak TLS at this port: its address may begin with http://"
        }
        Error::InvalidMessage(_)
        | Error::InappropriateMessage { .. }
        | Error::InappropriateHandshakeMessage { .. }
        | Error::PeerMisbehaved(_)
        | Error::PeerSentOversizedRecord => {
            "the destination sent a message that does not belong to TLS"
        }
        Error::PeerIncompatible(_) => {
            "the destination speaks neither TLS 1.2 nor TLS 1.3 with a cipher that is known here"
        }
        Error::NoCertificatesPresented => "the destination showed no certificate",
        Error::DecryptError => "a message of the destination was changed on its way",
        _ => "the handshake failed",
    }
}

fn of_certificate(error: &CertificateError) -> &'static str {
    match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "certificate has expired"
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "certificate is not valid yet"
        }
        CertificateError::UnknownIssuer => "certificate is not issued by a trusted authority",
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "certificate is for another host"
        }
        CertificateError::Revoked => "certificate was revoked",
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "certificate is not for servers"
        }
        CertificateError::BadEncoding => "certificate cannot be read",
        CertificateError::BadSignature => "certificate has a wrong signature",
        CertificateError::UnsupportedSignatureAlgorithmContext { .. }
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            "certificate is signed in a way that is not known here"
        }
        CertificateError::Other(other) if other.0.to_string() == "UnsupportedCertVersion" => {
            "certificate has another version of X.509 than 3"
        }
        _ => "certificate cannot be verified",
    }
}

fn of_alert(alert: AlertDescription) -> &'static str {
    match alert {
        AlertDescription::CertificateRequired | AlertDescription::NoCertificate => {
            "the destination wants a client certificate, and none is sent"
        }
        AlertDescription::HandshakeFailure => {
            "the destination ended the handshake: it wants a client certificate, or knows none of \
             the ciphers that are known here"
        }
        AlertDescription::ProtocolVersion | AlertDescription::InsufficientSecurity => {
            "the destination speaks neither TLS 1.2 nor TLS 1.3"
        }
        AlertDescription::UnrecognisedName => {
            "the destination has no certificate for this host name"
        }
        AlertDescription::AccessDenied => "the destination lets this client in no further",
        AlertDescription::InternalError => "the destination has an internal error",
        _ => "the destination ended the connection with an alert of TLS",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_names_a_type_of_the_library() {
        let alerts = (0..=u8::MAX).map(|code| Error::AlertReceived(AlertDescription::from(code)));
        let others = [
            Error::InvalidMessage(InvalidMessage::InvalidContentType),
            Error::InvalidMessage(InvalidMessage::MessageTooShort),
            Error::PeerIncompatible(rustls::PeerIncompatible::ServerDoesNotSupportTls12Or13),
            Error::PeerMisbehaved(rustls::PeerMisbehaved::UnsolicitedServerHelloExtension),
            Error::InvalidCertificate(CertificateError::UnhandledCriticalExtension),
            Error::General("InvalidThing".to_owned()),
        ];
        for error in alerts.chain(others) {
            let words = words(&error);
            let is_word = |word: &str| {
                let lower = word.chars().skip(1).all(|c| !c.is_ascii_uppercase());
                lower || matches!(word, "TLS" | "X.509")
            };
            assert!(words.split_whitespace().all(is_word) && !words.contains('('), "{words}");
        }
        let alert = |alert| words(&Error::AlertReceived(alert));
        assert!(alert(AlertDescription::CertificateRequired).contains("client certificate"));
        assert!(alert(AlertDescription::HandshakeFailure).contains("client certificate"));
    }

    #[test]
    fn other_errors_are_said_as_elsewhere() {
        let reset = io::Error::from(io::ErrorKind::ConnectionReset);
        assert_eq!(of(&reset), None);
        assert_eq!(of_handshake(&reset), "tls: connection reset by the destination");
        let end = io::Error::from(io::ErrorKind::UnexpectedEof);
        assert!(of_handshake(&end).ends_with("closed the connection before TLS began"));
    }
}
