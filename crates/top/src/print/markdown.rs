//! A table in Markdown.

use std::io::{self, Write};

use super::columns::{AnswerTable, Format, Layout};
use crate::count::answer::Answer;

/// A table in GitHub Flavored Markdown. In keys, `|`, `\` and what would begin markup are escaped with a backslash, a line
/// feed becomes `<br>`, and invalid UTF-8 becomes U+FFFD.
#[derive(Clone, Copy, Debug, Default)]
pub struct Markdown(pub Layout);

impl Format for Markdown {
    fn write(&self, answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
        let columns = AnswerTable::new(answer, self.0);
        let names = columns.titles();
        let numbers = names.len() - columns.key_columns();
        if !self.0.no_header {
            let names: Vec<String> = names.iter().map(|name| escaped(name)).collect();
            writeln!(out, "| {} |", names.join(" | "))?;
            let rule = (0..names.len()).map(|index| if index < numbers { "---:" } else { "---" });
            writeln!(out, "| {} |", rule.collect::<Vec<_>>().join(" | "))?;
        }
        for row in columns.rows() {
            let values = row.into_iter().map(|value| escaped(&String::from_utf8_lossy(&value.bytes())));
            writeln!(out, "| {} |", values.collect::<Vec<_>>().join(" | "))?;
        }
        Ok(())
    }
}

pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' => escaped.push_str("<br>"),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '~' => escaped.extend(['\\', char]),
            char if char.is_control() => escaped.push(' '),
            char => escaped.push(char),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::tests::{several, written};

    #[test]
    fn keys_cannot_break_a_table() {
        let keys: &[(&[u8], u64)] = &[(b"a|b", 2), (b"<b>*_\\ \t", 1)];
        assert_eq!(
            written(&Markdown::default(), keys, false),
            "| count | key |\n| ---: | --- |\n| 2 | a\\|b |\n| 1 | &lt;b>\\*\\_\\\\   |\n"
        );
        let layout = Layout { percent: true, ..Layout::default() };
        assert_eq!(
            several(&Markdown(layout)),
            "| count | percent | path | user agent |\n| ---: | ---: | --- | --- |\n\
             | 3 | 75.00 | /a b | x,\\|y |\n| 1 | 25.00 |  | line<br>feed |\n"
        );
    }
}
