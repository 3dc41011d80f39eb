//! Why a delivery ended as it did, for programs.

use serde::{Deserialize, Serialize};

/// Why a log is rejected or failed, in one word; its `error` says it for people. A log
/// whose destination was reached, or is still tried, has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The output's rules did not let it pass, or could not be evaluated.
    Rules,
    /// A function stopped it, or failed.
    Function,
    /// It is not from whom it says it is.
    Signature,
    /// It came before.
    Duplicate,
    /// It waited longer than the output's deadline allows.
    Deadline,
    /// Another attempt would end the same: the destination refused it, or may not be called.
    DestinationRefused,
    /// It waited too long for a destination that fails each time.
    Destination,
    /// The last attempt failed.
    AttemptsExhausted,
    /// Its output is gone.
    Cancelled,
    /// It has passed as many relays as a webhook may: its output leads back to where it came from.
    Loop,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Rules,
        Self::Function,
        Self::Signature,
        Self::Duplicate,
        Self::Deadline,
        Self::DestinationRefused,
        Self::Destination,
        Self::AttemptsExhausted,
        Self::Cancelled,
        Self::Loop,
    ];

    /// Its word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::Function => "function",
            Self::Signature => "signature",
            Self::Duplicate => "duplicate",
            Self::Deadline => "deadline",
            Self::DestinationRefused => "destination_refused",
            Self::Destination => "destination",
            Self::AttemptsExhausted => "attempts_exhausted",
            Self::Cancelled => "cancelled",
            Self::Loop => "loop",
        }
    }

    /// The reason of this word on the wire.
    #[must_use]
    pub fn from_wire(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_one_word() {
        for reason in Reason::ALL {
            assert_eq!(Reason::from_wire(reason.as_str()), Some(reason));
            let json = serde_json::to_value(reason).expect("JSON");
            assert_eq!(json, reason.as_str());
        }
        assert_eq!(Reason::from_wire("Rules"), None);
    }
}
