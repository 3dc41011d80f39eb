//! Sets of bytes: the classes `%a`, `%d` … and the sets in brackets.

use super::matcher::Stop;

/// A set of byte values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    pub(super) const EMPTY: Self = Self([0; 4]);

    #[inline]
    pub(super) const fn contains(&self, byte: u8) -> bool {
        self.0[(byte >> 6) as usize] >> (byte & 63) & 1 == 1
    }

    pub(super) const fn insert(&mut self, byte: u8) {
        self.0[(byte >> 6) as usize] |= 1 << (byte & 63);
    }

    fn insert_range(&mut self, low: u8, high: u8) {
        for (index, word) in self.0.iter_mut().enumerate() {
            let base = index as u32 * 64;
            let (from, to) = (u32::from(low).max(base), u32::from(high).min(base + 63));
            // Not so for an empty range, nor where this word holds nothing of it.
            if from <= to {
                *word |= u64::MAX >> (63 - (to - from)) << (from - base);
            }
        }
    }

    pub(super) const fn union(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        Self([a[0] | b[0], a[1] | b[1], a[2] | b[2], a[3] | b[3]])
    }

    const fn complement(self) -> Self {
        let a = self.0;
        Self([!a[0], !a[1], !a[2], !a[3]])
    }

    const fn of_class(letter: u8) -> Self {
        let mut set = Self::EMPTY;
        let mut byte = 0_u8;
        loop {
            let inside = match letter {
                b'a' => byte.is_ascii_alphabetic(),
                b'c' => byte.is_ascii_control(),
                b'd' => byte.is_ascii_digit(),
                b'g' => byte.is_ascii_graphic(),
                b'l' => byte.is_ascii_lowercase(),
                b'p' => byte.is_ascii_punctuation(),
                b's' => matches!(byte, b' ' | 9..=13),
                b'u' => byte.is_ascii_uppercase(),
                b'w' => byte.is_ascii_alphanumeric(),
                // Of Lua 5.1, where patterns could not hold a zero; 5.4 still knows it.
                b'z' => byte == 0,
                b'x' => byte.is_ascii_hexdigit(),
                _ => false,
            };
            if inside {
                set.insert(byte);
            }
            if byte == u8::MAX {
                return set;
            }
            byte += 1;
        }
    }
}

/// The set of each letter from `a` to `z`, which is empty where the letter stands for itself.
static CLASSES: [ByteSet; 26] = {
    let mut classes = [ByteSet::EMPTY; 26];
    let mut index = 0;
    while index < classes.len() {
        classes[index] = ByteSet::of_class(b'a' + index as u8);
        index += 1;
    }
    classes
};

/// The set that `%` and this letter stand for, or `None` when the letter stands for itself.
pub(super) fn class(letter: u8) -> Option<ByteSet> {
    let index = usize::from(letter.to_ascii_lowercase().wrapping_sub(b'a'));
    let set = *CLASSES.get(index).filter(|set| **set != ByteSet::EMPTY)?;
    Some(if letter.is_ascii_uppercase() { set.complement() } else { set })
}

/// Reads the set whose `[` is at `open`; answers it and the place behind its `]`.
///
/// A `]` right behind the opening stands for itself, and so does a `-` that is first or last. As in Lua the end is
/// found first, so that a `%` that ends a range still protects a `]` behind it.
pub(super) fn bracket_set(pattern: &[u8], open: usize) -> Result<(ByteSet, usize), Stop> {
    let negated = pattern.get(open + 1) == Some(&b'^');
    let mut at = open + 1 + usize::from(negated);
    let close = closing_bracket(pattern, at)?;
    let mut set = ByteSet::EMPTY;
    while at < close {
        match (pattern.get(at), pattern.get(at + 1)) {
            (Some(b'%'), Some(&letter)) => {
                match class(letter) {
                    Some(members) => set = set.union(members),
                    None => set.insert(letter),
                }
                at += 2;
            }
            (Some(&low), Some(b'-')) if at + 2 < close => {
                if let Some(&high) = pattern.get(at + 2) {
                    set.insert_range(low, high);
                }
                at += 3;
            }
            (Some(&byte), _) => {
                set.insert(byte);
                at += 1;
            }
            (None, _) => break,
        }
    }
    Ok((if negated { set.complement() } else { set }, close + 1))
}

/// The place of the `]` that closes the set whose members begin at `first`.
fn closing_bracket(pattern: &[u8], first: usize) -> Result<usize, Stop> {
    let mut at = first;
    loop {
        match pattern.get(at) {
            None => return Err(Stop::Malformed("malformed pattern (missing ']')")),
            Some(b']') if at > first => return Ok(at),
            Some(b'%') => at += 2,
            Some(_) => at += 1,
        }
    }
}
