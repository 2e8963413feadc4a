//! What comb says on standard error: `comb: …`, a line each.

use std::fmt::Display;
use std::io::Write;

use anstyle::{AnsiColor, Style};
use finecomb_sys::units::Count;
use finecomb_top::Skipped;

use crate::command::Exit;

const NAME: Style = AnsiColor::Red.on_default().bold();

/// Says that something went wrong. What cannot be said is dropped: there is nowhere else to say it.
pub(crate) fn error(text: impl Display) {
    let _ = writeln!(anstream::stderr(), "{NAME}comb:{NAME:#} {text}");
}

/// Says something that a user should know though nothing went wrong.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(anstream::stderr(), "comb: {text}");
}

/// Says what is wrong with the arguments, or prints the help that they ask for.
pub(crate) fn usage(error: &clap::Error) -> Exit {
    if !error.use_stderr() {
        return match error.print() {
            Ok(()) => Exit::Found,
            Err(failure) => crate::command::output_failed(&failure),
        };
    }
    let text = error.render().ansi().to_string();
    let _ = write!(anstream::stderr(), "{}", text.replacen("error:", "comb:", 1));
    Exit::Trouble
}

/// Says that records were skipped, and shows the first. Only of `quoted` fields can a quote be open.
pub(crate) fn skipped(skipped: &Skipped, records: u64, line: Option<u64>, quoted: bool) {
    let Skipped { count, first, record } = skipped;
    let place = match line {
        Some(line) => format!("{}:{line}", first.source),
        None => format!("{} at byte {}", first.source, first.offset),
    };
    let all = records + count;
    let (have, were) = if *count == 1 { ("has", "was") } else { ("have", "were") };
    let or = if quoted { " or a quote that is never closed" } else { "" };
    note(format_args!(
        "{} of {} records {have} too few fields{or} and {were} skipped; the first is {place}: {}",
        Count(*count),
        Count(all),
        excerpt(record)
    ));
}

/// At most so many characters of a record are shown.
const EXCERPT: usize = 100;

/// The beginning of a record, safe for a terminal.
pub(crate) fn excerpt(record: &[u8]) -> String {
    let text = String::from_utf8_lossy(record);
    let mut shown = String::new();
    for char in text.chars().take(EXCERPT) {
        if char.is_control() { shown.extend(char.escape_default()) } else { shown.push(char) }
    }
    if text.chars().nth(EXCERPT).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn excerpts_are_short_and_harmless() {
        assert_eq!(excerpt(b"a \"\x1b[31mb\"\xFF"), "a \"\\u{1b}[31mb\"\u{FFFD}");
        assert_eq!(excerpt(&[b'x'; 100]), "x".repeat(100));
        assert_eq!(excerpt(&[b'x'; 101]), format!("{}…", "x".repeat(100)));
    }
}
