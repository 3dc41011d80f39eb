use proptest::prelude::*;

use super::*;

const fn at(secs: i64) -> Timestamp {
    Timestamp::from_secs(secs)
}

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn pause(from: i64, until: Option<i64>) -> Pause {
    Pause::new(at(from), until.map(at), "a deploy".to_owned())
}

#[test]
fn the_time_of_pauses_counts_once() {
    let mut pauses = Pauses::default();
    pauses.pause(pause(100, None));
    assert_eq!(pauses.stood_still(at(0), at(150)), secs(50));
    assert_eq!(pauses.stood_still(at(120), at(150)), secs(30));
    pauses.set_disabled(true, at(140));
    pauses.resume(at(160), None);
    assert_eq!(pauses.stood_still(at(0), at(170)), secs(70), "still disabled");
    pauses.set_disabled(false, at(180));
    assert_eq!(pauses.stood_still(at(0), at(1_000)), secs(80));
    assert_eq!(pauses.stood_still(at(150), at(160)), secs(10));
    assert_eq!(pauses.stood_still(at(200), at(1_000)), secs(0));
}

#[test]
fn what_is_discarded_stays_discarded_and_only_at_the_end_of_a_pause() {
    let mut pauses = Pauses::default();
    pauses.discard(at(90), at(95));
    assert!(pauses.is_empty(), "there was no pause");
    pauses.pause(pause(100, None));
    pauses.discard(at(150), at(200));
    pauses.resume(at(200), None);
    pauses.pause(pause(300, None));
    pauses.discard(at(120), at(400));
    pauses.resume(at(400), None);
    assert!(pauses.discards(at(149)) && !pauses.discards(at(150)));
    assert_eq!(StoredPauses::from(&pauses).with(pauses.all().to_vec()), pauses);
}

#[test]
fn a_pause_ends_by_itself() {
    let mut pauses = Pauses::default();
    pauses.pause(pause(100, Some(200)));
    assert!(pauses.current(at(199)).is_some() && pauses.current(at(200)).is_none());
    assert_eq!(pauses.stood_still(at(0), at(500)), secs(100));
    pauses.lapse(at(500));
    assert_eq!(pauses.stood_still(at(0), at(500)), secs(100));
    assert_eq!(pauses.catch_up(at(205)), Some((at(200), 10, secs(1))));
}

#[test]
fn a_second_pause_changes_the_first() {
    let mut pauses = Pauses::default();
    pauses.pause(pause(100, Some(200)));
    pauses.pause(pause(150, None));
    let current = pauses.current(at(1_000)).expect("paused");
    assert_eq!((current.at, current.until), (at(100), None));
    // Resuming what is not paused changes nothing.
    let mut never = Pauses::default();
    never.resume(at(5), None);
    assert!(never.is_empty());
}

#[test]
fn pauses_by_several_do_not_overwrite_each_other() {
    let mut pauses = Pauses::default();
    let by = |by, from| Pause { by, ..pause(from, None) };
    pauses.pause(by(PausedBy::Failing, 100));
    pauses.pause(pause(150, Some(300)));
    assert_eq!(pauses.current(at(200)).map(|pause| pause.by), Some(PausedBy::Caller));
    assert_eq!(pauses.until(at(200)), Some(None), "one has no end");
    pauses.change(PauseChange::Recover(at(250)));
    assert_eq!(pauses.until(at(260)), Some(Some(at(300))), "a person paused it, too");
    assert_eq!(pauses.catch_up(at(260)), None);
    assert_eq!(pauses.stood_still(at(0), at(500)), secs(200));
    pauses.pause(by(PausedBy::Gone, 290));
    let (rate, discard_before) = (None, at(0));
    pauses.change(PauseChange::Resume { at: at(400), rate, discard_before });
    assert_eq!((pauses.all().len(), pauses.until(at(400))), (0, None));
    assert_eq!(pauses.stood_still(at(0), at(500)), secs(300));
}

#[test]
fn what_waited_leaves_ever_faster_or_as_told() {
    let mut pauses = Pauses::default();
    pauses.pause(pause(100, None));
    pauses.resume(at(200), None);
    let rate = |now| pauses.catch_up(at(now)).map(|(_, rate, _)| rate);
    assert_eq!([rate(200), rate(209), rate(210), rate(299)], [10, 10, 20, 5_120].map(Some));
    assert_eq!(rate(300), None);
    pauses.pause(pause(400, None));
    pauses.resume(at(500), Some((7, RateInterval::Minute)));
    assert_eq!(pauses.catch_up(at(9_999)), Some((at(500), 7, secs(60))));
}

proptest! {
    /// However often, nothing expires sooner than without the bound on what is remembered.
    #[test]
    fn many_pauses_are_remembered_without_loss(gaps in prop::collection::vec((1_i64..50, 1_i64..50), 0..60)) {
        let (mut pauses, mut now, mut paused) = (Pauses::default(), 0, 0);
        for (gap, length) in gaps {
            pauses.pause(pause(now + gap, None));
            now += gap + length;
            paused += length;
            pauses.resume(at(now), None);
        }
        let remembered = pauses.stood_still(at(0), at(now));
        prop_assert!(remembered >= secs(paused.unsigned_abs()) && remembered <= secs(now.unsigned_abs()));
        prop_assert!(pauses.past.len() <= REMEMBERED);
        let stored = serde_json::to_string(&StoredPauses::from(&pauses)).expect("JSON");
        let read: StoredPauses = serde_json::from_str(&stored).expect("as stored");
        prop_assert_eq!(read.with(Vec::new()), pauses);
    }
}
