//! Which answers of a destination are a success, and which are tried again.

use std::{fmt, str::FromStr};

use http::StatusCode;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{
    model::wire,
    wire::{
        Described,
        described::{Entry, Invalid, Shape},
    },
};

/// How many codes and classes one list may have.
const MAX_CODES: usize = 100;

/// The outcomes of answers, by status code. A code wins over its class, and a code in no list has
/// its usual outcome.
///
/// ```
/// use webhook_core::model::Outcomes;
///
/// let outcomes = r#"{"success": ["2xx", "409"], "retry": ["404"], "final": ["500"]}"#;
/// let outcomes: Outcomes = serde_json::from_str(outcomes)?;
/// assert_eq!(outcomes.success[1].to_string(), "409");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Described)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
#[described(rules)]
pub struct Outcomes {
    /// Answers with which the destination has taken the webhook: the delivery is sent.
    #[serde(deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    #[field(label = "Success", max = MAX_CODES, example = "2xx\n409")]
    pub success: Vec<StatusCodes>,
    /// Answers after which the relay tries again, by the schedule of the output. Redirects are not
    /// followed.
    #[serde(deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    #[field(label = "Try again", max = MAX_CODES, example = "404\n5xx")]
    pub retry: Vec<StatusCodes>,
    /// Answers after which the delivery has failed, without another attempt.
    #[serde(deserialize_with = "wire::null_default")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    #[field(label = "Failure", max = MAX_CODES, example = "501\n3xx")]
    pub r#final: Vec<StatusCodes>,
}

/// The list that a status code is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutcomeList {
    Success,
    Retry,
    Final,
}

impl Outcomes {
    fn lists(&self) -> [(&'static str, OutcomeList, &[StatusCodes]); 3] {
        [
            ("success", OutcomeList::Success, &self.success),
            ("retry", OutcomeList::Retry, &self.retry),
            ("final", OutcomeList::Final, &self.r#final),
        ]
    }

    /// The list that has this code, or else the one that has its class.
    pub(crate) fn list_of(&self, status: StatusCode) -> Option<OutcomeList> {
        let code = status.as_u16();
        [code, code / 100].into_iter().find_map(|codes| {
            let mut lists = self.lists().into_iter();
            lists.find(|(.., list)| list.contains(&StatusCodes(codes))).map(|(_, list, _)| list)
        })
    }

    fn rules(&self) -> Result<(), Invalid> {
        let lists = self.lists();
        for (at, (name, _, list)) in lists.iter().enumerate() {
            for (other, _, earlier) in &lists[..at] {
                if let Some(index) = list.iter().position(|codes| earlier.contains(codes)) {
                    let (place, codes) = (format!("{name}[{index}]"), list[index]);
                    let reason = format!("{codes} is in {other} as well; it can be in one list");
                    return Err(Invalid::new(place, reason));
                }
            }
        }
        Ok(())
    }
}

/// A status code such as `404`, or a class of them such as `4xx`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusCodes(
    /// The code, or the first digit of the class.
    u16,
);

impl FromStr for StatusCodes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (digits, is_known) = match text.strip_suffix("xx").or(text.strip_suffix("XX")) {
            Some(class) => (class, 2..=5),
            None => (text, 200..=599),
        };
        let number = digits.parse().ok().filter(|number| is_known.contains(number));
        number.filter(|_| digits.bytes().all(|digit| digit.is_ascii_digit())).map(Self).ok_or_else(
            || {
                let shown: String = text.chars().take(20).collect();
                format!("{shown:?} must be a code from 200 to 599, or a class from 2xx to 5xx")
            },
        )
    }
}

impl fmt::Display for StatusCodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            class @ ..100 => write!(f, "{class}xx"),
            code => write!(f, "{code}"),
        }
    }
}

impl Serialize for StatusCodes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for StatusCodes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl Entry for StatusCodes {
    const SHAPE: Shape = Shape::Texts;

    fn text(&self) -> String {
        self.to_string()
    }

    fn typed(text: &str) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::described;

    fn outcomes(json: &str) -> Outcomes {
        serde_json::from_str(json).expect(json)
    }

    #[test]
    fn a_code_wins_over_its_class_and_a_code_in_no_list_is_in_none() {
        let it = outcomes(r#"{"success": ["409", "3xx"], "retry": ["4XX"], "final": ["301"]}"#);
        let list = |code| it.list_of(StatusCode::from_u16(code).expect("a code"));
        assert_eq!(list(409), Some(OutcomeList::Success));
        assert_eq!((list(404), list(499)), (Some(OutcomeList::Retry), Some(OutcomeList::Retry)));
        assert_eq!((list(301), list(302)), (Some(OutcomeList::Final), Some(OutcomeList::Success)));
        assert_eq!((list(200), list(500), list(999)), (None, None, None));
        let written = serde_json::to_string(&it).expect("JSON");
        assert_eq!(written, r#"{"success":["409","3xx"],"retry":["4xx"],"final":["301"]}"#);
    }

    #[test]
    fn a_code_in_two_lists_is_refused_with_its_place() {
        for (json, expected) in [
            (r#"{"success": ["409"], "retry": ["404", "409"]}"#, "retry[1]: 409 is in success"),
            (r#"{"retry": ["5xx"], "final": ["5XX"]}"#, "final[0]: 5xx is in retry"),
        ] {
            let error = described::check(&outcomes(json), "").expect_err(json).to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        let both = outcomes(r#"{"retry": ["5xx"], "final": ["500"]}"#);
        assert!(described::check(&both, "").is_ok(), "a code and its class");
        let many = vec!["404"; MAX_CODES + 1];
        let many = outcomes(&serde_json::json!({ "retry": many }).to_string());
        assert!(described::check(&many, "").is_err());
    }

    #[test]
    fn what_is_no_code_is_refused() {
        for text in ["", "xx", "1xx", "6xx", "+4xx", "199", "600", "+404", "4x", "ok", "2xx "] {
            let error = text.parse::<StatusCodes>().expect_err(text);
            assert!(error.contains("must be a code from 200 to 599"), "{error}");
        }
        for json in [r#"{"retry": [404]}"#, r#"{"retry": "404"}"#, r#"{"other": []}"#] {
            assert!(serde_json::from_str::<Outcomes>(json).is_err(), "{json}");
        }
        assert_eq!(outcomes(r#"{"retry": null}"#), Outcomes::default());
    }
}
