//! The names of the files that would be searched.

use std::io::Write;
use std::ops::ControlFlow;

use finecomb_scan::{Done, FileName, Output, Reading, ScanOptions, Text, Visit, Wants, in_order};

use crate::options::GrepOptions;
use crate::print::lines::Style;
use crate::visitor::path_of;

/// Prints the names of the files that would be searched. [`Done::files`] says how many there are.
pub fn list(
    reading: &Reading,
    options: &ScanOptions<'_>,
    grep: &GrepOptions,
    out: &mut (dyn Write + Send),
) -> Done<()> {
    let style = Style::new(grep);
    let done = in_order(reading, options, None, out, || Names { style: &style });
    Done {
        visitors: Vec::new(),
        problems: done.problems,
        files: done.files,
        bytes: done.bytes,
        output_error: done.output_error,
        report: done.report,
    }
}

/// Prints names.
struct Names<'a> {
    style: &'a Style,
}

impl Visit for Names<'_> {
    type Found = ();
    type Carry = ();
    type Tally = ();

    fn wants(&self) -> Wants {
        Wants::Name
    }

    fn name(&mut self, file: FileName<'_>, out: &mut Output<'_>) {
        if self.style.options.quiet {
            return;
        }
        let out = out.bytes();
        self.style.write_path(path_of(file).as_os_str().as_encoded_bytes(), out);
        out.push(if self.style.options.null_after_path { 0 } else { b'\n' });
    }

    fn begin(&mut self, _file: FileName<'_>, _start: &[u8]) {}
    fn search(&mut self, _file: FileName<'_>, _block: Text<'_>) {}

    fn pass(
        &mut self,
        _file: FileName<'_>,
        _block: Text<'_>,
        _found: &(),
        _carry: &mut (),
    ) -> ControlFlow<()> {
        ControlFlow::Break(())
    }

    fn skip_line(&mut self, _carry: &mut (), _bytes: u64) {}

    fn print(
        &mut self,
        _file: FileName<'_>,
        _block: Text<'_>,
        _found: (),
        _carry: &(),
        _tally: &mut (),
        _out: &mut Output<'_>,
    ) {
    }

    fn add(_tally: &mut (), _other: ()) {}

    fn end(&mut self, _file: FileName<'_>, _carry: (), _tally: (), _out: &mut Output<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
