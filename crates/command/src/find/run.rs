//! `comb find`: searches an index.

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write, stdout};
use std::os::unix::ffi::OsStrExt;

use anstyle::{AnsiColor, Style};
use finecomb_sys::display;
use finecomb_text_index::{CountAnswer, Direction, SearchAnswer};
use finecomb_text_index::{Index, Occurrences, Pattern, TextPassage};

use crate::exit::{Exit, Failure, check_output};
use crate::find::args::{FindArguments, FindFormat};
use crate::terminal;

/// Maximum context in symbols, as it is read into memory.
const MAX_CONTEXT: u64 = 1 << 24;

/// Runs the command.
pub(crate) fn run(arguments: &FindArguments) -> Result<Exit, Failure> {
    check_output()?;
    // If the search fails, its drop prints the occurrences found before the error.
    let mut out = BufWriter::new(stdout().lock());
    let any = find(arguments, &mut out)?;
    out.flush()?;
    Ok(if any { Exit::Found } else { Exit::NotFound })
}

fn find(arguments: &FindArguments, out: &mut impl Write) -> Result<bool, Failure> {
    let index = Index::open(&arguments.index)?;
    let pattern = index.pattern(arguments.pattern.as_bytes())?;
    let occurrences = index.occurrences(&pattern)?;
    if arguments.count {
        let count = occurrences.count();
        match arguments.format.choice() {
            FindFormat::Json => print_json(out, &CountAnswer::new(None, &pattern, count))?,
            FindFormat::Text => writeln!(out, "{count}")?,
        }
        return Ok(count > 0);
    }
    let first = index.alphabet().first_position();
    let direction = match (arguments.from, arguments.before) {
        (_, Some(before)) => Direction::LastBefore(before),
        (from, None) => Direction::FirstFrom(from.unwrap_or(first)),
    };
    let printer = OccurrencePrinter::new(arguments, &index, &pattern, direction, &occurrences);
    if arguments.all {
        return printer.all(out, arguments.from.unwrap_or(first), arguments.limit.unwrap_or(u64::MAX));
    }
    let found = direction.find(&index, &occurrences)?;
    match found {
        Some(offset) => printer.print(out, offset)?,
        None if arguments.format.choice() == FindFormat::Json => {
            print_json(out, &SearchAnswer::new(None, &pattern, direction, occurrences.count(), None))?
        }
        None => {}
    }
    Ok(found.is_some())
}

fn print_json(out: &mut impl Write, answer: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, answer)?;
    out.write_all(b"\n")
}

/// Prints occurrences.
struct OccurrencePrinter<'a> {
    index: &'a Index,
    pattern: &'a Pattern,
    direction: Direction,
    occurrences: &'a Occurrences<'a>,
    context: u64,
    json: bool,
    is_terminal: bool,
    place: Style,
    matched: Style,
}

impl<'a> OccurrencePrinter<'a> {
    fn new(
        arguments: &FindArguments,
        index: &'a Index,
        pattern: &'a Pattern,
        direction: Direction,
        occurrences: &'a Occurrences<'a>,
    ) -> Self {
        let style = |style| if terminal::output_has_colors() { style } else { Style::new() };
        Self {
            index,
            pattern,
            direction,
            occurrences,
            context: arguments.context.min(MAX_CONTEXT),
            json: arguments.format.choice() == FindFormat::Json,
            is_terminal: stdout().is_terminal(),
            place: style(AnsiColor::Green.on_default()),
            matched: style(AnsiColor::Red.on_default().bold()),
        }
    }

    fn all(&self, out: &mut impl Write, from: u64, limit: u64) -> Result<bool, Failure> {
        let mut any = false;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        for offset in self.occurrences.positions_from(self.index.offset(from)?).take(limit) {
            self.print(out, offset?)?;
            any = true;
        }
        Ok(any)
    }

    fn print(&self, out: &mut impl Write, offset: u64) -> Result<(), Failure> {
        let passage = self.index.passage(offset, self.pattern.len() as u64, self.context)?;
        if self.json {
            let found = SearchAnswer::new(
                None,
                self.pattern,
                self.direction,
                self.occurrences.count(),
                Some(&passage),
            );
            return Ok(print_json(out, &found)?);
        }
        Ok(self.line(out, &passage)?)
    }

    fn line(&self, out: &mut impl Write, passage: &TextPassage) -> io::Result<()> {
        let Self { place: green, matched: red, .. } = self;
        let TextPassage { position, place, before, matched, after } = passage;
        write!(out, "{green}{position}{green:#}:")?;
        let (mut before, mut after) = (&before[..], &after[..]);
        if let Some(place) = place {
            write!(out, "{green}{}{green:#}:{green}{}{green:#}:", place.line, place.column)?;
            // Context is limited to the line.
            before = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
            after = after.split(|&byte| byte == b'\n').next().unwrap_or_default();
            after = after.strip_suffix(b"\r").unwrap_or(after);
        }
        out.write_all(&self.shown(before))?;
        write!(out, "{red}")?;
        out.write_all(&self.shown(matched))?;
        write!(out, "{red:#}")?;
        out.write_all(&self.shown(after))?;
        out.write_all(b"\n")
    }

    /// A part of the text. What a terminal would obey is escaped.
    fn shown<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        match self.is_terminal {
            true => Cow::Owned(display::escaped_bytes(text).into_bytes()),
            false => Cow::Borrowed(text),
        }
    }
}
