//! Fields of inputs and outputs that the interface does not know.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};

use crate::wire::{
    Error, Secret,
    described::{Described, secrets},
    json,
};

/// A field that clients of the interface do not know. They send whole resources without
/// it, which must not take it away. So in an update, absent keeps what is stored, `null`
/// takes it away, and an object replaces the stored object whole.
///
/// What is stored, and what is answered, is never [`Reset`](Self::Reset). An answer shows
/// masks in place of secrets; only [`set`](Self::set) has the secrets themselves.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use webhook_core::model::{Described, Extension};
///
/// #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Described)]
/// struct Window {
///     /// The length of the window in seconds.
///     #[field(label = "Seconds")]
///     seconds: u32,
/// }
///
/// #[derive(Deserialize)]
/// struct Update {
///     #[serde(default)]
///     window: Extension<Window>,
/// }
///
/// let stored: Update = serde_json::from_str(r#"{"window": {"seconds": 60}}"#)?;
/// let mut update: Update = serde_json::from_str("{}")?;
/// update.window.keep("window", &stored.window)?;
/// assert_eq!(update.window, stored.window);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Extension<T> {
    /// Not given; in what is stored, not there.
    #[default]
    Absent,
    /// Given as `null`.
    Reset,
    /// Given as an object.
    Set(T),
}

impl<T> Extension<T> {
    /// The object, if there is one.
    #[must_use]
    pub const fn set(&self) -> Option<&T> {
        match self {
            Self::Set(object) => Some(object),
            Self::Absent | Self::Reset => None,
        }
    }

    /// Whether there is no object.
    #[must_use]
    pub const fn is_unset(&self) -> bool {
        self.set().is_none()
    }
}

impl<T: Described + Clone> Extension<T> {
    /// Makes what a caller wrote what is to be stored after `stored`. A mask stands for the
    /// stored secret that it was made of: the one in the same place, or else, in a list
    /// whose order has changed, the only one that has this mask.
    ///
    /// # Errors
    /// [`Invalid`](crate::ErrorKind::Invalid) that names the place below `field`: a mask
    /// that no stored secret has.
    pub fn keep(&mut self, field: &str, stored: &Self) -> Result<(), Error> {
        match self {
            Self::Absent => *self = stored.clone(),
            Self::Reset => *self = Self::Absent,
            Self::Set(object) => {
                let mut known = Vec::new();
                if let Self::Set(stored) = stored {
                    secrets(&mut stored.clone(), "", &mut |place, secret| {
                        known.push((place.to_owned(), secret.expose().to_owned()));
                    });
                }
                let mut unknown = None;
                secrets(object, "", &mut |place, secret| {
                    if !is_mask(secret.expose()) {
                        return;
                    }
                    match unmasked(&known, place, secret.expose()) {
                        Some(stored) => *secret = Secret::new(stored),
                        None => {
                            unknown.get_or_insert_with(|| format!("{field}.{place}"));
                        }
                    }
                });
                if let Some(place) = unknown {
                    return Err(Error::invalid(&place, "no stored secret has this mask"));
                }
            }
        }
        Ok(())
    }
}

/// What a mask begins with.
const MASK: &str = "********";
/// How many of a secret's last characters its mask shows.
const SHOWN: usize = 4;
/// A shorter secret shows none of its characters.
const SHOWN_FROM: usize = 16;

/// What an answer shows of a secret: enough to tell one from another, by whoever has them.
pub(crate) fn mask(secret: &str) -> String {
    let count = secret.chars().count();
    let shown = if count < SHOWN_FROM { 0 } else { SHOWN };
    let end: String = secret.chars().skip(count - shown).collect();
    if secret.is_empty() { String::new() } else { format!("{MASK}{end}") }
}

fn is_mask(text: &str) -> bool {
    text.strip_prefix(MASK).is_some_and(|end| matches!(end.chars().count(), 0 | SHOWN))
}

/// The secret of which `text` is the mask.
fn unmasked<'a>(known: &'a [(String, String)], place: &str, text: &str) -> Option<&'a str> {
    let same: Vec<_> = known
        .iter()
        .filter(|(other, secret)| {
            without_index(other) == without_index(place) && mask(secret) == text
        })
        .collect();
    let here = same.iter().find(|(other, _)| other == place);
    match (here, &same[..]) {
        (Some((_, secret)), _) | (None, [(_, secret)]) => Some(secret),
        _ => None,
    }
}

/// `secrets[1].secret` without its number.
fn without_index(place: &str) -> (&str, &str) {
    match (place.split_once('['), place.split_once(']')) {
        (Some((list, _)), Some((_, field))) => (list, field),
        _ => (place, ""),
    }
}

impl<T: Described + Clone + Serialize> Serialize for Extension<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self::Set(object) = self else { return serializer.serialize_none() };
        let mut shown = object.clone();
        secrets(&mut shown, "", &mut |_, secret| *secret = Secret::new(mask(secret.expose())));
        shown.serialize(serializer)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Extension<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object: Option<T> = json::optional_object(deserializer)?;
        Ok(object.map_or(Self::Reset, Self::Set))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_shows_little() {
        assert_eq!(mask(""), "");
        assert_eq!(mask("0123456789abcde"), "********");
        assert_eq!(mask("0123456789abcdeä"), "********cdeä");
        assert!(!is_mask("********x") && !is_mask("*******") && is_mask("********cdeä"));
    }
}
