//! The parts of a help text: paragraphs, examples, and lists under a title.

use clap::builder::StyledStr;

/// A help text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Help {
    pub(super) paragraphs: Vec<String>,
    pub(super) examples: Vec<Example>,
    pub(super) blocks: Vec<Block>,
}

/// Command lines, and what they do.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Example {
    pub(super) purpose: String,
    pub(super) lines: Vec<String>,
}

/// Indented text under a title.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The title, without its colon.
    pub(super) title: String,
    /// Names and what they stand for; all text has the empty name if the block is no list.
    pub(super) rows: Vec<(String, String)>,
}

/// Indentation of the command lines of an example; what they do is indented less.
const COMMAND: &str = "      ";

impl Help {
    pub(super) fn parse(text: Option<&StyledStr>) -> Self {
        let text = text.map(ToString::to_string).unwrap_or_default();
        let mut help = Self::default();
        for part in text.split("\n\n").map(str::trim_end).filter(|part| !part.is_empty()) {
            match part.split_once(":\n") {
                Some(("Examples", lines)) => help.examples = examples(lines),
                Some((title, lines)) if lines.starts_with("  ") => {
                    help.blocks.push(Block { title: title.to_owned(), rows: rows(lines) });
                }
                _ => help.paragraphs.push(part.replace('\n', " ")),
            }
        }
        help
    }

    /// Takes the block with this title.
    pub(super) fn take_block(&mut self, title: &str) -> Option<Block> {
        let at = self.blocks.iter().position(|block| block.title == title)?;
        Some(self.blocks.remove(at))
    }
}

fn examples(text: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix(COMMAND), examples.last_mut()) {
            (Some(command), Some(example)) => example.lines.push(command.to_owned()),
            _ => examples.push(Example { purpose: line.trim().to_owned(), lines: Vec::new() }),
        }
    }
    examples
}

/// Rows of a name, two blanks or more, and a text; or else one row with the whole text.
fn rows(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().map(str::trim);
    let rows: Option<Vec<_>> = lines.clone().map(|line| line.split_once("  ")).collect();
    match rows {
        Some(rows) => {
            rows.into_iter().map(|(name, text)| (name.to_owned(), text.trim().to_owned())).collect()
        }
        None => vec![(String::new(), lines.collect::<Vec<_>>().join(" "))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_help_text_has_parts() {
        let text = "Count keys\n\nExamples:\n  One:\n      comb top a\n  Two:\n      comb top b\n      comb top c\n\n\
                    The first\nparagraph: x.\n\nExit status:\n  0    found\n  130  interrupted\n\n\
                    Configuration:\n  A file of\n  arguments.";
        let mut help = Help::parse(Some(&text.into()));
        assert_eq!(help.paragraphs, ["Count keys", "The first paragraph: x."]);
        let lines: Vec<_> =
            help.examples.iter().map(|example| (&*example.purpose, example.lines.len())).collect();
        assert_eq!(lines, [("One:", 1), ("Two:", 2)]);
        assert_eq!(help.examples[1].lines[1], "comb top c");
        let status = help.take_block("Exit status").expect("a block");
        assert_eq!(status.rows[1], ("130".to_owned(), "interrupted".to_owned()));
        assert_eq!(help.blocks[0].rows, [(String::new(), "A file of arguments.".to_owned())]);
    }
}
