//! The fields of a line, without colours.

use std::fmt::{self, Write};

use tracing::field::{Field, Visit};
use tracing_subscriber::{
    field::RecordFields,
    fmt::{FormatFields, format::Writer},
};

/// How much memory a line gets at first: enough for most.
const ROOM: usize = 384;

/// Writes fields as `tracing_subscriber` does, but for control characters: its own
/// formatter escapes those that a terminal obeys and leaves line ends, so that a sender
/// could write lines of its own into the log.
#[derive(Debug)]
pub(crate) struct Plain;

impl<'w> FormatFields<'w> for Plain {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'w>, fields: R) -> fmt::Result {
        // Formatted into a string first, because each write to `writer` is a virtual call.
        let mut line = Line { text: String::with_capacity(ROOM), written: Ok(()) };
        fields.record(&mut line);
        line.written.and_then(|()| writer.write_str(&line.text))
    }
}

struct Line {
    text: String,
    written: fmt::Result,
}

impl Line {
    fn add(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        if field.name() != "message" {
            self.text.push_str(field.name());
            self.text.push('=');
        }
        self.written = self.written.and_then(|()| Printable(&mut self.text).write_fmt(value));
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        // Quoted, unless it is what the line is about.
        match field.name() {
            "message" => self.add(field, format_args!("{value}")),
            _ => self.add(field, format_args!("{value:?}")),
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, format_args!("{value}"));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, format_args!("{value}"));
    }
}

/// Escapes control characters. A value may come from a sender: a terminal must not obey it,
/// and it must not end the line.
struct Printable<'a>(&'a mut String);

impl Write for Printable<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // C1 controls are two bytes that begin with 0xC2.
        if text.bytes().all(|byte| byte >= b' ' && byte != 0x7f && byte != 0xc2) {
            self.0.push_str(text);
            return Ok(());
        }
        text.chars().try_for_each(|c| match c.is_control() {
            true => write!(self.0, "{}", c.escape_default()),
            false => {
                self.0.push(c);
                Ok(())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use super::*;
    use crate::telemetry::log::{Log, tests::Told};

    #[test]
    fn values_are_written_as_they_are_but_for_what_a_terminal_obeys() {
        let (sender, written) = mpsc::channel();
        let out = Log::start(Told(sender), Duration::ZERO).expect("no thread is needed");
        let log = tracing_subscriber::fmt()
            .without_time()
            .with_target(false)
            .with_ansi(false)
            .fmt_fields(Plain)
            .compact()
            .with_writer(out)
            .finish();
        tracing::subscriber::with_default(log, || {
            let name = "a b";
            let sent = "\u{1b}[2J\nINFO \u{9b}1m é";
            tracing::warn!(attempt = 3_u32, name, sent = %sent, none = None::<&str>, ok = true, "{sent}");
        });
        assert_eq!(
            written.try_recv().as_deref(),
            Ok(" WARN \\u{1b}[2J\\nINFO \\u{9b}1m é attempt=3 name=\"a b\" \
                sent=\\u{1b}[2J\\nINFO \\u{9b}1m é ok=true\n")
        );
    }
}
