//! What came out, as a table for `docs/reliability.md`.

use std::{collections::BTreeMap, fmt};

use crate::{faults::Name, judge, round::Round};

/// All rounds of one fault.
#[derive(Debug, Default)]
struct Row {
    rounds: u64,
    /// Of them, those in which something was lost or wrong.
    bad: u64,
    acknowledged: u64,
    lost: u64,
    mixed_up: u64,
    again: u64,
    ordered: u64,
    overtaken: u64,
    turned_away: u64,
    first: Vec<f64>,
    drained: Vec<f64>,
}

#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: BTreeMap<Name, Row>,
    /// Rounds that could not be made to the end.
    broken: u64,
    /// Servers of each round.
    servers: u32,
}

impl Table {
    pub(crate) fn over(servers: u32) -> Self {
        Self { servers, ..Self::default() }
    }

    /// Adds a round, and tells of it when something was wrong.
    pub(crate) fn add(&mut self, name: Name, round: Round) {
        let well = round.is_well();
        let Round {
            number,
            acknowledged,
            turned_away,
            lost,
            mixed_up,
            again,
            ordered,
            overtaken,
            first,
            drained,
            wrong,
            remarks,
        } = round;
        for said in wrong.into_iter().chain(remarks) {
            println!("torture: {name:?}, round {number}: {said}");
        }
        let row = self.rows.entry(name).or_default();
        row.rounds += 1;
        row.bad += u64::from(!well);
        row.acknowledged += acknowledged;
        row.lost += lost;
        row.mixed_up += mixed_up;
        row.again += again;
        row.ordered += ordered;
        row.overtaken += overtaken;
        row.turned_away += turned_away;
        row.first.extend(first);
        row.drained.push(drained);
        let so_far: u64 = self.rows.values().map(|row| row.rounds).sum();
        let lost: u64 = self.rows.values().map(|row| row.lost).sum();
        if so_far.is_multiple_of(20) {
            println!("torture: {so_far} rounds, {lost} lost");
        }
    }

    pub(crate) fn broken(&mut self, name: Name, error: &str) {
        println!("torture: {name:?}: {error}");
        self.broken += 1;
    }

    pub(crate) fn skipped(&self, name: Name, why: &str) {
        println!("torture: {name:?}: skipped: {why}");
    }

    pub(crate) fn is_well(&self) -> bool {
        self.broken == 0 && self.rows.values().all(|row| row.bad == 0)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| fault | rounds | acknowledged | lost | mixed up | sent twice | out of order | \
             turned away | to the first delivery, s | to the last outcome, s |\n\
             |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
        )?;
        for (name, row) in &self.rows {
            let Row { rounds, bad: _, acknowledged, lost, mixed_up, again, .. } = row;
            let Row { ordered, overtaken, turned_away, first, drained, .. } = row;
            writeln!(
                f,
                "| `{}` | {rounds} | {acknowledged} | {lost} | {mixed_up} | {again} | \
                 {overtaken} of {ordered} | {turned_away} | {} | {} |",
                format!("{name:?}").to_lowercase(),
                spread(first),
                spread(drained)
            )?;
        }
        let bad: u64 = self.rows.values().map(|row| row.bad).sum();
        let lost: u64 = self.rows.values().map(|row| row.lost).sum();
        let rounds: u64 = self.rows.values().map(|row| row.rounds).sum();
        writeln!(f, "\n{rounds} rounds, {lost} lost, {bad} not well, {} not made", self.broken)?;
        let overtaken: u64 = self.rows.values().map(|row| row.overtaken).sum();
        match (self.servers, judge::KEEPS_ORDER_OVER_SERVERS) {
            (0 | 1, _) | (_, true) => Ok(()),
            (_, false) => {
                writeln!(f, "{overtaken} out of order, as is expected of several servers")
            }
        }
    }
}

/// The median and the most.
fn spread(values: &[f64]) -> String {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    match (values.get(values.len() / 2), values.last()) {
        (Some(median), Some(most)) => format!("{median:.2}, at most {most:.2}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_adds_up_and_says_what_was_lost() {
        let round = |lost, drained| Round {
            acknowledged: 10,
            lost,
            again: 1,
            first: Some(0.5),
            drained,
            ..Round::default()
        };
        let mut table = Table::default();
        table.add(Name::Kill, round(0, 1.0));
        assert!(table.is_well());
        table.add(Name::Kill, round(2, 3.0));
        assert!(!table.is_well());
        let row = "| `kill` | 2 | 20 | 2 | 0 | 2 | 0 of 0 | 0 | 0.50, at most 0.50 | 3.00, at most 3.00 |";
        let text = table.to_string();
        assert!(text.contains(row), "{text}");
        assert!(text.contains("2 rounds, 2 lost, 1 not well, 0 not made"), "{text}");
    }
}
