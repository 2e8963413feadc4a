//! The formats that are nearest to a file in no known one, and the fields of its first line, for a message.

use finecomb_sys::display::excerpt;

use crate::cells::{Cells, Span, bytes_of};
use crate::query::field::Field;
use crate::query::input_format::InputFormat;
use crate::records::format::Extractor;
use crate::records::row_time::EXAMINED;
use crate::records::split::without_carriage_return;

/// Formats that are compared with a file, each with a field at the end of its records.
const FORMATS: [(InputFormat, &str); 6] = [
    (InputFormat::Combined, "user_agent"),
    (InputFormat::VhostCombined, "user_agent"),
    (InputFormat::Clf, "bytes"),
    (InputFormat::Json, "x"),
    (InputFormat::Syslog, "message"),
    (InputFormat::Logfmt, "x"),
];

/// Number of formats in the message.
const SHOWN: usize = 3;

/// Number of fields of the first line in the message, and of bytes of each.
const FIELDS: usize = 6;
const FIELD: usize = 30;

/// How near the first lines of a file are to a format.
struct Nearness<'f> {
    format: &'f InputFormat,
    /// Number of lines that have the format.
    sound: usize,
    /// Bytes of the first line that has not up to the violation, and the reason.
    violation: Option<(usize, &'static str)>,
}

/// The nearest formats of the lines at the beginning of a text, and the fields of the first line.
pub(crate) fn describe(
    head: &[u8],
    extractor: impl Fn(&InputFormat, &[Field]) -> Option<Extractor>,
) -> String {
    let lines = first_lines(head);
    let Some(&first) = lines.first() else { return String::new() };
    let formats = FORMATS;
    let mut all: Vec<Nearness<'_>> = formats
        .iter()
        .filter_map(|(format, field)| {
            // Every word is a key of logfmt.
            let is_possible = !matches!(format, InputFormat::Logfmt) || bytes_of(head, first).contains(&b'=');
            let extractor = extractor(format, &[Field::named(field)]).filter(|_| is_possible)?;
            Some(nearness(format, &extractor, (head, &lines)))
        })
        .collect();
    let json = all.iter().find(|near| *near.format == InputFormat::Json).map_or(0, |near| near.sound);
    // Programs that write JSON often write lines of their own between it.
    if json * 2 >= lines.len() {
        return format!(
            "; it looks like json with other text: {json} of {} lines; use --input json",
            lines.len()
        );
    }
    all.sort_by_key(|near| std::cmp::Reverse((near.sound, near.violation.map_or(0, |(reached, _)| reached))));
    let shown = |near: &Nearness<'_>| match near.violation {
        Some((reached, reason)) => format!("{} (column {}: {reason})", near.format, reached + 1),
        None => near.format.to_string(),
    };
    let nearest: Vec<String> = all.iter().take(SHOWN).map(shown).collect();
    let fields =
        bytes_of(head, first).split(|byte| matches!(byte, b' ' | b'\t')).filter(|field| !field.is_empty());
    let shown =
        |(number, field): (usize, &[u8])| format!("{number} '{}'", excerpt(&field[..field.len().min(FIELD)]));
    let cut: Vec<String> = (1..).zip(fields.clone().take(FIELDS)).map(shown).collect();
    let more = if fields.count() > FIELDS { " …" } else { "" };
    format!("; the nearest are {}; fields of the first line: {}{more}", nearest.join(", "), cut.join(" "))
}

/// The first lines that are not empty.
fn first_lines(head: &[u8]) -> Vec<Span> {
    let mut start = 0;
    let spans = head.split(|&byte| byte == b'\n').map(|line| {
        let span = (start, start + line.len());
        start = span.1 + 1;
        without_carriage_return(head, span)
    });
    spans.filter(|(start, end)| start < end).take(EXAMINED).collect()
}

fn nearness<'f>(
    format: &'f InputFormat,
    extractor: &Extractor,
    (text, lines): (&[u8], &[Span]),
) -> Nearness<'f> {
    let mut cells = Cells::default();
    cells.reset(1);
    extractor.extract(&mut extractor.scratch(), text, lines, &mut cells);
    let violation = cells.malformed().first();
    let violation = violation.map(|malformed| {
        let start = lines[malformed.record as usize].0;
        ((malformed.at as usize).saturating_sub(start), malformed.reason)
    });
    Nearness { format, sound: lines.len() - cells.malformed().len(), violation }
}
