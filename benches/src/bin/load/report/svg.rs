//! One panel for each scenario: latency by percentile, or memory over time.

use std::{fmt::Write, fs, path::Path};

use crate::{Outcome, measured::median_curve, run::Results};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 260.0;
/// Room for the axes and what is written on them.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 120.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 34.0;
/// Told apart by those who see colours differently, too (Okabe and Ito).
const COLOURS: [&str; 5] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9"];

pub(crate) fn write(path: &Path, all: &[Results]) -> Outcome<()> {
    Ok(fs::write(path, document(all)?)?)
}

fn document(all: &[Results]) -> Result<String, std::fmt::Error> {
    let panels: Vec<_> = all.iter().flat_map(panels).collect();
    let height = HEIGHT * panels.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (number, panel) in panels.iter().enumerate() {
        writeln!(svg, "<g transform=\"translate(0 {})\">", HEIGHT * number as f64)?;
        panel.draw(&mut svg)?;
        writeln!(svg, "</g>")?;
    }
    writeln!(svg, "</svg>")?;
    Ok(svg)
}

type Points = Vec<(f64, f64)>;

struct Panel {
    title: String,
    curves: Vec<(&'static str, Points)>,
    /// Where the axes are marked, and with what.
    x_marks: Vec<(f64, String)>,
    y_marks: Vec<(f64, String)>,
    /// Whether `y` grows by factors.
    log: bool,
}

fn panels(results: &Results) -> Vec<Panel> {
    let (name, subjects) = (results.scenario.name, &results.subjects);
    let curves = |points: &dyn Fn(&crate::run::SubjectResults) -> Points| {
        let curves = subjects.iter().map(|subject| (subject.name, points(subject)));
        curves.filter(|(_, points)| points.len() > 1).collect::<Vec<_>>()
    };
    let latency = curves(&|subject| {
        // A logarithm has no zero.
        median_curve(&subject.passes).iter().map(|(x, y)| (*x, y.max(0.001))).collect()
    });
    let memory = curves(&|subject| {
        subject.passes.last().map(|pass| pass.memory.clone()).unwrap_or_default()
    });
    let latency = Panel::latency(format!("{name}: latency, ms"), latency);
    let memory = Panel::memory(format!("{name}: resident memory, MiB, over seconds"), memory);
    [latency, memory].into_iter().flatten().collect()
}

impl Panel {
    fn latency(title: String, curves: Vec<(&'static str, Points)>) -> Option<Self> {
        let (_, most) = extent(&curves, |point| point.1)?;
        let (least, _) = extent(&curves, |point| point.1)?;
        let decades = least.log10().floor() as i32..=most.log10().ceil() as i32;
        let nines = ["min", "90 %", "99 %", "99.9 %", "99.99 %"];
        Some(Self {
            title,
            curves,
            x_marks: nines.iter().enumerate().map(|(x, name)| (x as f64, (*name).into())).collect(),
            y_marks: decades.map(|power| (10_f64.powi(power), number(power))).collect(),
            log: true,
        })
    }

    fn memory(title: String, curves: Vec<(&'static str, Points)>) -> Option<Self> {
        let marks = |most: f64| {
            let step = most.max(1.0) / 4.0;
            (0..=4).map(move |at| (step * f64::from(at), format!("{:.0}", step * f64::from(at))))
        };
        let (_, last) = extent(&curves, |point| point.0)?;
        let (_, most) = extent(&curves, |point| point.1)?;
        let (x_marks, y_marks) = (marks(last).collect(), marks(most * 1.1).collect());
        Some(Self { title, curves, x_marks, y_marks, log: false })
    }

    fn draw(&self, svg: &mut String) -> std::fmt::Result {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let title = &self.title;
        writeln!(svg, "<text x=\"{LEFT}\" y=\"20\" font-weight=\"bold\">{title}</text>")?;
        for (value, name) in &self.x_marks {
            let x = self.x(*value);
            let y = bottom + 16.0;
            writeln!(svg, "<path d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"#e5e5e5\"/>")?;
            writeln!(svg, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{name}</text>")?;
        }
        for (value, name) in &self.y_marks {
            let y = self.y(*value);
            let (x, text_y) = (LEFT - 6.0, y + 4.0);
            writeln!(svg, "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"#e5e5e5\"/>")?;
            writeln!(svg, "<text x=\"{x}\" y=\"{text_y:.1}\" text-anchor=\"end\">{name}</text>")?;
        }
        for (number, (name, points)) in self.curves.iter().enumerate() {
            let colour = COLOURS[number % COLOURS.len()];
            let points: Vec<_> = points
                .iter()
                .map(|(x, y)| format!("{:.1},{:.1}", self.x(*x), self.y(*y)))
                .collect();
            let points = points.join(" ");
            writeln!(
                svg,
                "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" \
                 stroke-width=\"1.8\"/>"
            )?;
            let (x, y) = (right + 10.0, TOP + 14.0 * (number as f64 + 1.0));
            writeln!(svg, "<text x=\"{x}\" y=\"{y}\" fill=\"{colour}\">{name}</text>")?;
        }
        Ok(())
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * share(value, &self.x_marks)
    }

    fn y(&self, value: f64) -> f64 {
        let share = if self.log {
            let log: Vec<_> =
                self.y_marks.iter().map(|(y, _)| (y.log10(), String::new())).collect();
            share(value.log10(), &log)
        } else {
            share(value, &self.y_marks)
        };
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share
    }
}

/// Where a value is between the first and the last mark.
fn share(value: f64, marks: &[(f64, String)]) -> f64 {
    match marks {
        [(first, _), .., (last, _)] => (value - first) / (last - first),
        _ => 0.5,
    }
}

/// The least and the most of all points.
fn extent(
    curves: &[(&'static str, Points)],
    of: impl Fn(&(f64, f64)) -> f64,
) -> Option<(f64, f64)> {
    let values = curves.iter().flat_map(|(_, points)| points).map(of);
    let extent = values
        .fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(value), most.max(value)));
    (extent.0 <= extent.1).then_some(extent)
}

/// 0.01, 0.1, 1, 10 …
fn number(power: i32) -> String {
    match usize::try_from(-power) {
        Ok(places) => format!("{:.places$}", 10_f64.powi(power)),
        Err(_) => format!("{:.0}", 10_f64.powi(power)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{measured::Measured, run::SubjectResults, scenario::ALL};

    #[test]
    fn a_curve_goes_from_the_left_to_the_right_and_up() {
        let pass = Measured { curve: vec![(0.0, 1.0), (4.0, 100.0)], ..Measured::default() };
        let subjects = vec![SubjectResults { name: "server", passes: vec![pass], note: None }];
        let svg = document(&[Results { scenario: ALL[0], subjects }]).expect("text");
        // From 1 ms at the bottom of the scale to 100 ms at its top.
        assert!(svg.contains("points=\"64.0,226.0 520.0,34.0\""), "{svg}");
        assert!(svg.contains(">99.99 %<") && svg.contains(">100<"), "{svg}");
        assert!(document(&[]).expect("text").ends_with("</svg>\n"));
    }
}
