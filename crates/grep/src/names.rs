//! Lists the files that would be searched.

use std::io::Write;

use finecomb_scan::{Block, Inputs, OrderedOptions, Output, Print, Search, Select, Source, Wants, in_order};

use crate::Outcome;
use crate::options::GrepOptions;
use crate::print::lines::Style;
use crate::search::Totals;

/// Prints the paths of the files that would be searched. [`Outcome::files`] is their number.
pub fn list(
    inputs: &Inputs,
    options: &OrderedOptions<'_>,
    grep: &GrepOptions,
    out: &mut (dyn Write + Send),
) -> Outcome {
    let style = Style::new(grep);
    let options = options.clone().limit(grep.scan_limit());
    let done = in_order(inputs, &options, None, out, || NamePrinter { style: &style });
    let totals = Totals { any: done.files > 0, ..Totals::default() };
    Outcome::of(done, totals)
}

/// Visitor that prints paths and opens no files.
struct NamePrinter<'a> {
    style: &'a Style,
}

impl Select for NamePrinter<'_> {
    fn wants(&self) -> Wants {
        Wants::Name
    }
}

impl Search for NamePrinter<'_> {
    type Found = ();
    type State = ();

    fn search(&mut self, _block: &mut Block<'_>) {}
}

impl Print for NamePrinter<'_> {
    type Tally = ();

    fn name(&mut self, source: &Source, out: &mut Output<'_>) {
        if self.style.options.quiet {
            return;
        }
        out.begin_result();
        self.style.write_path(source.display_path().as_os_str().as_encoded_bytes(), out.bytes());
        out.bytes().push(if self.style.options.null_after_path { 0 } else { b'\n' });
        out.end_result();
    }
}
