//! The webhooks that are sent: JSON that says its number and its length, so that
//! whoever receives one can tell whether it is whole.

/// Digits of a number in an event.
const DIGITS: usize = 10;
const ID: &[u8] = b"{\"id\":\"";
const SIZE: &[u8] = b"\",\"size\":\"";
const TEXT: &[u8] = b"\",\"text\":\"";
const END: &[u8] = b"\"}";
/// Where the ID is.
pub const ID_AT: usize = ID.len();
/// Where the size is.
const SIZE_AT: usize = ID_AT + DIGITS + SIZE.len();
/// The shortest event.
const LEAST: usize = SIZE_AT + DIGITS + TEXT.len() + END.len();

/// An event of so many bytes, at least; its number is written by [`number`].
pub fn body(bytes: usize) -> Vec<u8> {
    let bytes = bytes.max(LEAST);
    let size = digits(bytes as u64);
    let mut body = [ID, &digits(0), SIZE, &size, TEXT].concat();
    // Text that compresses about as well as text does, and needs no escapes.
    let words = b"event delivery bucket output attempt receipt signature payload ";
    body.extend(words.repeat((bytes - LEAST).div_ceil(words.len())));
    body.truncate(bytes - END.len());
    body.extend(END);
    body
}

/// Writes the number of an event that starts at `at`.
pub fn number(bytes: &mut [u8], at: usize, id: u64) {
    bytes[at + ID_AT..at + ID_AT + DIGITS].copy_from_slice(&digits(id));
}

/// The number of a whole event.
pub fn read(body: &[u8]) -> Option<u64> {
    let whole = body.starts_with(ID)
        && body.ends_with(END)
        && parse(body.get(SIZE_AT..SIZE_AT + DIGITS)?)? == body.len() as u64;
    whole.then(|| parse(&body[ID_AT..ID_AT + DIGITS])).flatten()
}

fn digits(number: u64) -> [u8; DIGITS] {
    let mut digits = [b'0'; DIGITS];
    let mut rest = number;
    for digit in digits.iter_mut().rev() {
        *digit += (rest % 10) as u8;
        rest /= 10;
    }
    digits
}

fn parse(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_says_its_number_and_whether_it_is_whole() {
        for bytes in [0, 1 << 10, 256 << 10] {
            let mut body = body(bytes);
            assert_eq!(body.len(), bytes.max(LEAST));
            number(&mut body, 0, 1_234);
            assert_eq!(read(&body), Some(1_234));
            assert!(serde_json::from_slice::<serde_json::Value>(&body).is_ok());
            assert_eq!(read(&body[..body.len() - 1]), None);
            body.insert(60.min(body.len() - 2), b'x');
            assert_eq!(read(&body), None);
        }
        assert_eq!(read(b""), None);
    }
}
