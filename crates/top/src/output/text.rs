//! Lines of `COUNT KEY`.

use std::io::{self, Write};

use anstyle::Style;
use finecomb_sys::units::counted;

use super::Format;
use crate::answer::Answer;

/// A line for each key: the count, a space, and the unchanged bytes of the key. A partial answer ends with a line that
/// begins with `#`; no other line does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Text {
    /// Style of counts. Default: plain.
    pub count: Style,
}

impl Format for Text {
    fn write(&self, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
        for key in &answer.top {
            write!(out, "{}{}{:#} ", self.count, key.count, self.count)?;
            out.write_all(&key.key)?;
            out.write_all(b"\n")?;
        }
        if answer.partial {
            writeln!(out, "# partial: interrupted after {}", counted(answer.records, "record"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::tests::written;

    #[test]
    fn a_line_has_a_count_and_a_key() {
        let shown = written(&Text::default(), &[(b"/a b", 12), (b"", 3), (b"\xFF", 1)], false);
        assert_eq!(shown, "12 /a b\n3 \n1 ?\n");
    }

    #[test]
    fn partial_answers_are_marked() {
        assert_eq!(
            written(&Text::default(), &[(b"a", 2)], true),
            "2 a\n# partial: interrupted after 2 records\n"
        );
        assert_eq!(
            written(&Text::default(), &[(b"a", 1)], true),
            "1 a\n# partial: interrupted after 1 record\n"
        );
    }

    #[test]
    fn counts_have_their_style() {
        assert_eq!(written(&Text { count: Style::new().bold() }, &[(b"a", 2)], false), "\x1b[1m2\x1b[0m a\n");
    }
}
