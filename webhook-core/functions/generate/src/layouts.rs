//! The date layouts that the search tries, in the language of Go's reference time.

/// A layout that the search tries, the more usual first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) text: &'static str,
    /// Year, month and day are all there, so that a moment can be read from it.
    pub(crate) full_date: bool,
    /// It shows a time of day.
    pub(crate) clock: bool,
}

const fn moment(text: &'static str) -> Layout {
    Layout { text, full_date: true, clock: true }
}
const fn day(text: &'static str) -> Layout {
    Layout { text, full_date: true, clock: false }
}
const fn part(text: &'static str, clock: bool) -> Layout {
    Layout { text, full_date: false, clock }
}

/// Where two layouts read the same (`02/01/2006` and `01/02/2006` of the fifth of May), the earlier one is taken.
pub(crate) const LAYOUTS: &[Layout] = &[
    moment("2006-01-02T15:04:05Z07:00"),
    moment("2006-01-02T15:04:05.000Z07:00"),
    moment("2006-01-02T15:04:05.000000Z07:00"),
    day("2006-01-02"),
    moment("2006-01-02 15:04:05"),
    moment("2006-01-02T15:04:05"),
    moment("2006-01-02 15:04"),
    moment("2006-01-02 15:04:05 MST"),
    moment("2006-01-02 15:04 MST"),
    moment("2006-01-02 15:04:05 -0700"),
    moment("2006-01-02T15:04:05-0700"),
    moment("2006-01-02T15:04"),
    day("02/01/2006"),
    day("01/02/2006"),
    day("02.01.2006"),
    day("2006/01/02"),
    day("02-01-2006"),
    day("01-02-2006"),
    day("2/1/2006"),
    day("1/2/2006"),
    day("Jan 2, 2006"),
    day("January 2, 2006"),
    day("2 Jan 2006"),
    day("02 Jan 2006"),
    day("2 January 2006"),
    day("02-Jan-2006"),
    day("Mon, 2 Jan 2006"),
    day("Mon, Jan 2, 2006"),
    day("Monday, January 2, 2006"),
    day("Monday, 2 January 2006"),
    moment("02/01/2006 15:04"),
    moment("01/02/2006 15:04"),
    moment("02/01/2006 15:04:05"),
    moment("01/02/2006 15:04:05"),
    moment("02.01.2006 15:04"),
    moment("02.01.2006 15:04:05"),
    moment("2006/01/02 15:04:05"),
    moment("01/02/2006 3:04 PM"),
    moment("Jan 2, 2006 15:04"),
    moment("Jan 2, 2006 3:04 PM"),
    moment("Jan 2, 2006 at 3:04 PM"),
    moment("Jan 2, 2006, 3:04 PM"),
    moment("January 2, 2006 15:04"),
    moment("January 2, 2006 3:04 PM"),
    moment("January 2, 2006 at 3:04 PM"),
    moment("2 Jan 2006 15:04"),
    moment("02 Jan 2006 15:04"),
    moment("2 January 2006 15:04"),
    moment("Mon, 02 Jan 2006 15:04:05 MST"),
    moment("Mon, 02 Jan 2006 15:04:05 -0700"),
    moment("Mon Jan _2 15:04:05 2006"),
    moment("15:04:05 Jan 02, 2006 MST"),
    day("20060102"),
    moment("20060102150405"),
    moment("20060102T150405Z07:00"),
    part("15:04:05", true),
    part("15:04", true),
    part("3:04 PM", true),
    part("2006-01", false),
    part("January 2006", false),
    part("Jan 2006", false),
    part("January 2", false),
    part("2 January", false),
    part("Jan 2", false),
    part("Monday", false),
    part("2006", false),
];
