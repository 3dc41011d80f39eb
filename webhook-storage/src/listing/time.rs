//! Time in pieces that tallies count.

use webhook_core::store::tally::{self, DAY_MILLIS, MINUTE_MILLIS};

use crate::{
    entity::{millis, moment},
    tally::Span,
};

/// Beginnings of days before and after everything.
pub(super) const FIRST_DAY: i64 = -(1 << 33) * DAY_MILLIS;
pub(super) const LAST_DAY: i64 = (1 << 33) * DAY_MILLIS;

/// From a moment on, up to a moment that does not belong to it.
pub(super) type Stretch = (i64, i64);

fn floor(at: i64, unit: i64) -> i64 {
    millis(tally::floor(moment(at), unit))
}

fn ceil(at: i64, unit: i64) -> i64 {
    millis(tally::ceil(moment(at), unit))
}

/// Takes time apart into what tallies count whole, and its ragged ends.
pub(super) fn take_apart(from: i64, to: i64) -> (Vec<(Span, Stretch)>, Vec<Stretch>) {
    let is_some = |stretch: &Stretch| stretch.0 < stretch.1;
    let minutes = (ceil(from, MINUTE_MILLIS), floor(to, MINUTE_MILLIS));
    if minutes.0 > minutes.1 {
        return (Vec::new(), [(from, to)].into_iter().filter(is_some).collect());
    }
    let ends = [(from, minutes.0), (minutes.1, to)].into_iter().filter(is_some).collect();
    let days = (ceil(minutes.0, DAY_MILLIS), floor(minutes.1, DAY_MILLIS));
    let whole = if days.0 > days.1 {
        vec![(Span::Minute, minutes)]
    } else {
        vec![
            (Span::Minute, (minutes.0, days.0)),
            (Span::Day, days),
            (Span::Minute, (days.1, minutes.1)),
        ]
    };
    (whole.into_iter().filter(|(_, stretch)| is_some(stretch)).collect(), ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 60 * MINUTE_MILLIS;

    fn whole(from: i64, to: i64) -> Vec<(Span, Stretch)> {
        take_apart(from, to).0
    }

    #[test]
    fn time_is_taken_apart_into_days_minutes_and_ends() {
        let days = [(Span::Day, (DAY_MILLIS, 3 * DAY_MILLIS))];
        assert_eq!(whole(DAY_MILLIS, 3 * DAY_MILLIS), days);
        assert_eq!(take_apart(DAY_MILLIS, 3 * DAY_MILLIS).1, []);
        assert_eq!(
            take_apart(DAY_MILLIS - HOUR - 1, 3 * DAY_MILLIS + HOUR + 1),
            (
                vec![
                    (Span::Minute, (DAY_MILLIS - HOUR, DAY_MILLIS)),
                    days[0],
                    (Span::Minute, (3 * DAY_MILLIS, 3 * DAY_MILLIS + HOUR)),
                ],
                vec![
                    (DAY_MILLIS - HOUR - 1, DAY_MILLIS - HOUR),
                    (3 * DAY_MILLIS + HOUR, 3 * DAY_MILLIS + HOUR + 1),
                ],
            )
        );
        assert_eq!(take_apart(HOUR + 5, HOUR + 9), (vec![], vec![(HOUR + 5, HOUR + 9)]));
        assert_eq!(take_apart(9, 5), (vec![], vec![]));
        assert_eq!(whole(HOUR, 2 * HOUR), [(Span::Minute, (HOUR, 2 * HOUR))]);
        take_apart(i64::MIN, i64::MAX);
        take_apart(i64::MAX, i64::MIN);
    }

    proptest::proptest! {
        #[test]
        fn the_parts_are_the_whole(from in -3 * DAY_MILLIS..3 * DAY_MILLIS, length in 0..4 * DAY_MILLIS) {
            let (whole, ends) = take_apart(from, from + length);
            let parts = whole.iter().map(|(_, stretch)| stretch).chain(&ends);
            let mut parts: Vec<_> = parts.copied().collect();
            parts.sort_unstable();
            let mut at = from;
            for (start, end) in parts {
                proptest::prop_assert_eq!(start, at);
                proptest::prop_assert!(end > start);
                at = end;
            }
            proptest::prop_assert_eq!(at, from + length);
            for (span, (start, end)) in whole {
                let unit = if span == Span::Day { DAY_MILLIS } else { MINUTE_MILLIS };
                proptest::prop_assert_eq!((start % unit, end % unit), (0, 0));
            }
            proptest::prop_assert!(ends.iter().all(|(start, end)| end - start < 2 * MINUTE_MILLIS));
        }
    }
}
