//! What one pass measured, and what several come to.

/// What one pass of one subject measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    /// Names, which say their unit, in the order of the table.
    pub(crate) values: Vec<(String, f64)>,
    /// Percentiles of latency: nines and milliseconds.
    pub(crate) curve: Vec<(f64, f64)>,
    /// Memory while it lasted: seconds and MiB.
    pub(crate) memory: Vec<(f64, f64)>,
    /// What must not happen: events that were acknowledged and never arrived.
    pub(crate) faults: Vec<String>,
}

impl Measured {
    pub(crate) fn value(&mut self, name: impl Into<String>, value: f64) {
        self.values.push((name.into(), value));
    }

    /// What was measured under this name.
    pub(crate) fn of(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(found, _)| found == name).map(|(_, value)| *value)
    }

    /// Something that must be zero.
    pub(crate) fn never(&mut self, name: &str, count: u64) {
        if count > 0 {
            self.faults.push(format!("{name}: {count}"));
        }
    }
}

/// Several passes together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Summary {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Summary {
    /// Of at least one value.
    pub(crate) fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let (least, most) = (*values.first()?, *values.last()?);
        let half = values.len() / 2;
        let median = match values.len() % 2 {
            1 => values[half],
            _ => f64::midpoint(values[half - 1], values[half]),
        };
        Some(Self { median, least, most })
    }
}

/// A value of all passes, where they have it.
pub(crate) fn summary(passes: &[Measured], name: &str) -> Option<Summary> {
    Summary::of(passes.iter().filter_map(|pass| pass.of(name)).collect())
}

/// The median of all passes at each point that all of them have.
pub(crate) fn median_curve(passes: &[Measured]) -> Vec<(f64, f64)> {
    let points = passes.iter().map(|pass| pass.curve.len()).min().unwrap_or_default();
    let point = |index: usize| {
        let at = passes.iter().map(|pass| pass.curve[index].1).collect();
        Some((passes.first()?.curve[index].0, Summary::of(at)?.median))
    };
    (0..points).filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_and_the_extremes_are_kept() {
        let of = |values: &[f64]| Summary::of(values.to_vec());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[3.0, 1.0, 2.0]), Some(Summary { median: 2.0, least: 1.0, most: 3.0 }));
        assert_eq!(of(&[4.0, 1.0]), Some(Summary { median: 2.5, least: 1.0, most: 4.0 }));
        let pass = |value| {
            let mut pass = Measured { curve: vec![(0.0, value)], ..Measured::default() };
            pass.value("events/s", value);
            pass
        };
        let passes = [pass(1.0), pass(9.0), pass(5.0)];
        assert_eq!(summary(&passes, "events/s").map(|found| found.median), Some(5.0));
        assert_eq!(summary(&passes, "else"), None);
        assert_eq!(median_curve(&passes), [(0.0, 5.0)]);
    }
}
