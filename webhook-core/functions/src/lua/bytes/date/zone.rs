//! Time zones.

use std::sync::OnceLock;

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase, TimeZoneTransition};

use super::super::error::Error;
use super::civil::Civil;

/// How many changes of a zone before and after a time are searched for an abbreviation.
const SEARCHED_TRANSITIONS: usize = 4;

/// A time zone of the built-in database.
#[derive(Debug, Clone)]
pub struct Zone {
    zone: TimeZone,
    utc_name: Option<&'static str>,
}

/// What a zone's clocks show at some time.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub(super) offset_seconds: i64,
    pub(super) daylight: bool,
    pub(super) abbreviation: String,
}

impl Zone {
    /// UTC, abbreviated so.
    #[must_use]
    pub const fn utc() -> Self {
        Self { zone: TimeZone::UTC, utc_name: Some("UTC") }
    }

    /// UTC, abbreviated `GMT` as C does in `os.date("!%Z")`.
    pub(super) const fn gmt() -> Self {
        Self { zone: TimeZone::UTC, utc_name: Some("GMT") }
    }

    /// The zone with a name such as `Europe/Berlin`; the empty name, `UTC` and `Local` are UTC, because scripts do
    /// not see the machine's zone.
    ///
    /// # Errors
    /// When the database has no such zone.
    pub fn named(name: &str) -> Result<Self, Error> {
        static DATABASE: OnceLock<TimeZoneDatabase> = OnceLock::new();
        if matches!(name, "" | "UTC" | "Local") {
            return Ok(Self::utc());
        }
        match DATABASE.get_or_init(TimeZoneDatabase::bundled).get(name) {
            Ok(zone) => Ok(Self { zone, utc_name: None }),
            Err(_) => {
                let shown: String = name.chars().take(64).collect();
                Err(Error::message(format!("unknown time zone {shown}")))
            }
        }
    }

    /// What the clocks show; before the year -9999 and behind 9999 what they show then.
    pub(super) fn shown_at(&self, seconds: i64) -> Shown {
        if let Some(name) = self.utc_name {
            return Shown { offset_seconds: 0, daylight: false, abbreviation: name.to_owned() };
        }
        let info = self.zone.to_offset_info(clamped(seconds));
        Shown {
            offset_seconds: i64::from(info.offset().seconds()),
            daylight: info.dst().is_dst(),
            abbreviation: info.abbreviation().to_owned(),
        }
    }

    /// Seconds since 1970 in UTC when the zone's clocks show `local` seconds since 1970.
    ///
    /// A time that they show twice is the earlier one; one that they skip is as far behind the gap as it is in it.
    pub(super) fn utc_seconds(&self, local: i64) -> i64 {
        if self.utc_name.is_some() {
            return local;
        }
        let datetime = Offset::UTC.to_datetime(clamped(local));
        let found = self.zone.to_ambiguous_timestamp(datetime).compatible();
        match found {
            Ok(found) if clamped(local).as_second() == local => found.as_second(),
            Ok(_) | Err(_) => local.saturating_sub(self.shown_at(local).offset_seconds),
        }
    }

    /// As [`Self::utc_seconds`], but of a time that clocks show twice the one that Go takes: most often the later one
    /// east of Greenwich and the earlier one west of it.
    pub(super) fn utc_seconds_in_go(&self, local: i64) -> i64 {
        let guess = self.shown_at(local).offset_seconds;
        match guess {
            0 => local,
            _ => local - self.shown_at(local - guess).offset_seconds,
        }
    }

    /// Seconds east of UTC that `abbreviation` stands for in this zone around `local`.
    pub(super) fn offset_of(&self, abbreviation: &str, local: i64) -> Option<i64> {
        let fits = |shown: &Shown| shown.abbreviation == abbreviation;
        if self.utc_name.is_some() {
            return fits(&self.shown_at(local)).then_some(0);
        }
        let around =
            |transition: TimeZoneTransition<'_>| self.shown_at(transition.timestamp().as_second());
        let at = clamped(local);
        let candidates = std::iter::once(self.shown_at(local))
            .chain(self.zone.preceding(at).take(SEARCHED_TRANSITIONS).map(around))
            .chain(self.zone.following(at).take(SEARCHED_TRANSITIONS).map(around));
        let mut first = None;
        for shown in candidates.filter(fits) {
            if fits(&self.shown_at(local.saturating_sub(shown.offset_seconds))) {
                return Some(shown.offset_seconds);
            }
            first.get_or_insert(shown.offset_seconds);
        }
        first
    }

    /// The date that the zone's clocks show, and how.
    pub(super) fn civil_at(&self, seconds: i64) -> (Civil, Shown) {
        let shown = self.shown_at(seconds);
        (Civil::from_seconds(seconds.saturating_add(shown.offset_seconds)), shown)
    }
}

fn clamped(seconds: i64) -> Timestamp {
    let bounded = seconds.clamp(Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
    Timestamp::from_second(bounded).unwrap_or(Timestamp::UNIX_EPOCH)
}
