//! What differs between two texts, line by line.

use askama::Template;

/// The most pairs of lines that are held against each other. What differs in more than that
/// is shown as gone and as new.
const MAX_PAIRS: usize = 250_000;
/// How many lines that are the same are shown around what differs.
const AROUND: usize = 3;
/// How many lines are shown in all.
const MAX_SHOWN: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Same,
    Gone,
    New,
    /// Lines that are the same and are left out.
    Skipped,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    kind: Kind,
    text: String,
}

impl Line {
    fn new(kind: Kind, text: &str) -> Self {
        Self { kind, text: text.to_owned() }
    }
}

/// What became of a text, which writes itself into a page.
#[derive(Debug, Template)]
#[template(path = "diff.html")]
pub(crate) struct Diff {
    label: &'static str,
    lines: Vec<Line>,
}

impl Diff {
    pub(crate) fn between(label: &'static str, before: &str, after: &str) -> Self {
        let mut lines = shortened(compared(before, after));
        if let Some(more) = lines.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
            lines.truncate(MAX_SHOWN);
            let text = format!("… {more} more lines, which are not shown");
            lines.push(Line { kind: Kind::Skipped, text });
        }
        Self { label, lines }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.iter().all(|line| matches!(line.kind, Kind::Same | Kind::Skipped))
    }
}

fn compared(before: &str, after: &str) -> Vec<Line> {
    let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let ahead = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (head, old) = old.split_at(ahead);
    let new = &new[ahead..];
    let behind = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new);
    let behind = behind.count();
    let (old, tail) = old.split_at(old.len() - behind);
    let new = &new[..new.len() - behind];
    let mut lines: Vec<Line> = head.iter().map(|text| Line::new(Kind::Same, text)).collect();
    lines.extend(middle(old, new));
    lines.extend(tail.iter().map(|text| Line::new(Kind::Same, text)));
    lines
}

/// By the longest common subsequence.
fn middle(old: &[&str], new: &[&str]) -> Vec<Line> {
    let gone = |text: &&str| Line::new(Kind::Gone, text);
    let added = |text: &&str| Line::new(Kind::New, text);
    if old.len().saturating_mul(new.len()) > MAX_PAIRS {
        return old.iter().map(gone).chain(new.iter().map(added)).collect();
    }
    // `common[i * width + j]`: how many lines `old[i..]` and `new[j..]` have in common.
    let width = new.len() + 1;
    let mut common = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i * width + j] = match old[i] == new[j] {
                true => common[(i + 1) * width + j + 1] + 1,
                false => common[(i + 1) * width + j].max(common[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut lines = Vec::new();
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            lines.push(Line::new(Kind::Same, old[i]));
            (i, j) = (i + 1, j + 1);
        } else if common[(i + 1) * width + j] >= common[i * width + j + 1] {
            lines.push(gone(&old[i]));
            i += 1;
        } else {
            lines.push(added(&new[j]));
            j += 1;
        }
    }
    lines.extend(old[i..].iter().map(gone));
    lines.extend(new[j..].iter().map(added));
    lines
}

/// Without the lines that are far from all that differs.
fn shortened(lines: Vec<Line>) -> Vec<Line> {
    let is_near = |at: usize| {
        let around = at.saturating_sub(AROUND)..(at + AROUND + 1).min(lines.len());
        lines[around].iter().any(|line| line.kind != Kind::Same)
    };
    let near: Vec<bool> = (0..lines.len()).map(is_near).collect();
    let mut shown = Vec::new();
    let mut skipped = 0;
    for (line, near) in lines.into_iter().zip(near) {
        if !near {
            skipped += 1;
            continue;
        }
        if skipped > 0 {
            shown.push(Line { kind: Kind::Skipped, text: said(skipped) });
            skipped = 0;
        }
        shown.push(line);
    }
    if skipped > 0 {
        shown.push(Line { kind: Kind::Skipped, text: said(skipped) });
    }
    shown
}

fn said(skipped: usize) -> String {
    let lines = if skipped == 1 { "line" } else { "lines" };
    format!("… {skipped} {lines} the same")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: &str, after: &str) -> String {
        let signs = Diff::between("x", before, after).lines.into_iter().map(|line| {
            let sign = match line.kind {
                Kind::Same => ' ',
                Kind::Gone => '-',
                Kind::New => '+',
                Kind::Skipped => '~',
            };
            format!("{sign}{}", line.text)
        });
        signs.collect::<Vec<_>>().join("|")
    }

    #[test]
    fn what_differs_is_found_and_what_does_not_is_left_out() {
        assert_eq!(shown("a\nb\nc", "a\nx\nc"), " a|-b|+x| c");
        assert_eq!(shown("a\nb\nc\nd", "b\nd\ne"), "-a| b|-c| d|+e");
        assert_eq!(shown("", "a"), "+a");
        assert_eq!(shown("a\nb", "a\nb"), "~… 2 lines the same");
        assert!(Diff::between("x", "a", "a").is_empty() && Diff::between("x", "", "").is_empty());
        let long: String = (0..20).map(|number| format!("{number}\n")).collect();
        assert_eq!(
            shown(&long, &long.replace("10\n", "ten\n")),
            "~… 7 lines the same| 7| 8| 9|-10|+ten| 11| 12| 13|~… 6 lines the same"
        );
    }

    #[test]
    fn long_texts_are_compared_within_bounds() {
        let old: String = (0..60_000).map(|number| format!("{number}\n")).collect();
        let new: String = (0..60_000).map(|number| format!("{}\n", number + 1)).collect();
        let diff = Diff::between("x", &old, &new);
        assert!(!diff.is_empty());
        assert_eq!(diff.lines.len(), MAX_SHOWN + 1);
    }
}
