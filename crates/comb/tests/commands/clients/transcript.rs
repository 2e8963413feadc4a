//! Files of command lines and their output.
//!
//! A line `$ COMMAND` is followed by what bash prints for the command on standard output, and `? STATUS` if that is not 0. Lines
//! before it may begin with `#`, and a blank line ends its output. Control characters are escaped, and times are left out.

use super::project::Project;
use crate::support::run;

/// The commands in a file.
pub(super) struct Transcript<'a> {
    /// Each command, with the comments before it.
    commands: Vec<(Vec<&'a str>, &'a str)>,
}

impl<'a> Transcript<'a> {
    pub(super) fn parse(text: &'a str) -> Self {
        let mut commands = Vec::new();
        let mut comments = Vec::new();
        for block in text.split("\n\n") {
            for line in block.lines().take_while(|line| line.starts_with(['#', '$'])) {
                match line.strip_prefix("$ ") {
                    Some(command) => commands.push((std::mem::take(&mut comments), command)),
                    None => comments.push(line),
                }
            }
        }
        Self { commands }
    }

    /// Runs all commands, and returns the text of the file.
    pub(super) fn run(&self, project: &Project) -> String {
        let blocks = self.commands.iter().map(|(comments, command)| {
            let comments: String = comments.iter().map(|line| format!("{line}\n")).collect();
            let (printed, errors, code) = run(project.command("bash").args(["-c", command]));
            assert_eq!(errors, "", "{command}");
            let status = match code {
                Some(0) => String::new(),
                Some(code) => format!("? {code}\n"),
                None => panic!("{command}: killed"),
            };
            format!("{comments}$ {command}\n{}{status}", readable(&without_times(&printed)))
        });
        blocks.collect::<Vec<_>>().join("\n")
    }
}

/// Escapes control characters except line feeds.
fn readable(text: &str) -> String {
    let escape = |character: char| match character {
        '\n' => "\n".to_owned(),
        _ if character.is_control() => character.escape_default().to_string(),
        _ => character.to_string(),
    };
    text.chars().map(escape).collect()
}

/// Empties the objects `elapsed` and `elapsed_total` of JSON.
fn without_times(text: &str) -> String {
    let mut pieces = text.split("\"elapsed");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |whole, piece| {
        let (begin, end) = (piece.find('{').expect("an object"), piece.find('}').expect("its end"));
        format!("{whole}\"elapsed{}{}", &piece[..=begin], &piece[end..])
    })
}
