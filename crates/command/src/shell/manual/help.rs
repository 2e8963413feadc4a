//! The parts of a help text: paragraphs, and blocks of indented lines under a title.

use clap::builder::StyledStr;
use roff::{Roff, bold, roman};

/// Indentation of the command lines of an example; other lines of a block are indented less.
const COMMAND: &str = "      ";

/// A help text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Help {
    pub(super) paragraphs: Vec<String>,
    /// Titles without their colon, and the lines under them.
    pub(super) blocks: Vec<(String, String)>,
}

impl Help {
    pub(super) fn parse<'a>(texts: impl IntoIterator<Item = &'a StyledStr>) -> Self {
        let mut help = Self::default();
        for text in texts.into_iter().map(ToString::to_string) {
            for part in text.split("\n\n").map(str::trim_end).filter(|part| !part.is_empty()) {
                match part.split_once(":\n").filter(|(_, lines)| lines.starts_with("  ")) {
                    Some((title, lines)) => help.blocks.push((title.to_uppercase(), lines.to_owned())),
                    None => help.paragraphs.push(part.replace('\n', " ")),
                }
            }
        }
        help
    }

    /// Takes the block with this title.
    pub(super) fn take(&mut self, title: &str) -> Option<String> {
        let at = self.blocks.iter().position(|(found, _)| found == title)?;
        Some(self.blocks.remove(at).1)
    }
}

/// A section of a page, unless it is empty: rows of a name, two blanks or more, and a text; command lines; and paragraphs.
pub(super) fn section(title: &str, lines: &str) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut roff = Roff::new();
    roff.control("SH", [title]);
    let mut is_code = false;
    for line in lines.lines() {
        let code = line.strip_prefix(COMMAND);
        match (is_code, code.is_some()) {
            (false, true) => roff.control("PP", []).control("RS", ["4"]).control("nf", []),
            (true, false) => roff.control("fi", []).control("RE", []).control("PP", []),
            _ => &mut roff,
        };
        is_code = code.is_some();
        match (code, line.trim().split_once("  ")) {
            (Some(code), _) => roff.text([roman(code)]),
            (None, Some((name, text))) => {
                roff.control("TP", []).text([bold(name)]).text([roman(text.trim())])
            }
            (None, None) => roff.text([roman(line.trim())]),
        };
    }
    if is_code {
        roff.control("fi", []).control("RE", []);
    }
    roff.render()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_help_text_has_parts() {
        let text = "Count keys\n\nExamples:\n  One:\n      comb top a\n  Two:\n      comb top b\n      comb top c\n\n\
                    The first\nparagraph: x.\n\nExit status:\n  0    found\n  130  interrupted\n\n\
                    Configuration:\n  A file of\n  arguments.";
        let mut help = Help::parse([&text.into()]);
        assert_eq!(help.paragraphs, ["Count keys", "The first paragraph: x."]);
        let shown = |lines: &str| section("X", lines).split_once(".SH X\n").map(|(_, text)| text.to_owned());
        let examples = help.take("EXAMPLES").expect("a block");
        let expected = "One:\n.PP\n.RS 4\n.nf\ncomb top a\n.fi\n.RE\n.PP\nTwo:\n.PP\n.RS 4\n.nf\ncomb top b\ncomb top c\n.fi\n.RE\n";
        assert_eq!(shown(&examples).as_deref(), Some(expected));
        let status = help.take("EXIT STATUS").expect("a block");
        let expected = ".TP\n\\fB0\\fR\nfound\n.TP\n\\fB130\\fR\ninterrupted\n";
        assert_eq!(shown(&status).as_deref(), Some(expected));
        let [(title, lines)] = &help.blocks[..] else { panic!("{help:?}") };
        assert_eq!(title, "CONFIGURATION");
        assert_eq!(shown(lines).as_deref(), Some("A file of\narguments.\n"));
    }
}
