//! The sections of a page.

use clap::Command;
use roff::{Inline, Roff, bold, italic, roman};

use crate::shell::manual::facts::Facts;
use crate::shell::manual::help::{Block, Help};
use crate::shell::manual::{options, subcommands};

/// Printed at the foot of each page.
const SOURCE: &str = concat!("comb ", env!("CARGO_PKG_VERSION"));

/// Printed at the head of each page.
const BOOK: &str = "Finecomb Manual";

/// Section of the manual for commands.
const SECTION: &str = "1";

/// An empty argument.
const NO_DATE: &str = "\"\"";

/// The name of the page of a command.
pub(super) fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// The page of a command. `rename` changes the names in all texts.
pub(super) fn roff(command: &Command, facts: &Facts, rename: &dyn Fn(&str) -> String) -> Vec<u8> {
    let mut help = Help::parse(command.get_long_about().or(command.get_about()));
    help.blocks.extend(Help::parse(command.get_after_long_help()).blocks);
    let status = help.take_block("Exit status").map(|block| block.rows);
    let mut roff = Roff::new();
    // No date: a page belongs to a version.
    roff.control("TH", [name(command), SECTION, NO_DATE, SOURCE, BOOK]);
    // No hyphens in the names of flags, variables and pages, which are searched for, and no blanks to justify the lines.
    roff.control("nh", []);
    roff.control("ad", ["l"]);
    roff.control("SH", ["NAME"]);
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    roff.text([roman(format!("{} - {about}", name(command)))]);
    synopsis(&mut roff, command);
    description(&mut roff, &about, &help, rename);
    commands(&mut roff, command);
    options::section(&mut roff, command, rename);
    help.blocks.iter().for_each(|block| titled(&mut roff, block, rename));
    examples(&mut roff, &help, rename);
    list(&mut roff, "EXIT STATUS", status.unwrap_or_else(|| owned(facts.exit_status)), rename);
    list(&mut roff, "ENVIRONMENT", facts.environment.iter().flat_map(|rows| owned(rows)).collect(), rename);
    list(&mut roff, "FILES", facts.files.iter().flat_map(|rows| owned(rows)).collect(), rename);
    see_also(&mut roff, command, facts);
    source(&roff).into_bytes()
}

fn owned(rows: &[(&str, &str)]) -> Vec<(String, String)> {
    rows.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect()
}

/// The forms of the command line.
fn synopsis(roff: &mut Roff, command: &Command) {
    roff.control("SH", ["SYNOPSIS"]);
    // Brackets are for what may be omitted.
    let usage = command.clone().render_usage().to_string().replace(['<', '>'], "");
    let forms = usage.trim_start_matches("Usage:").lines().map(str::trim).filter(|form| !form.is_empty());
    for (number, form) in forms.enumerate() {
        if number > 0 {
            roff.control("br", []);
        }
        let names = command.get_bin_name().unwrap_or_else(|| command.get_name());
        let rest = form.strip_prefix(names);
        let mut line = if rest.is_some() { vec![bold(names)] } else { Vec::new() };
        line.extend(placeholders(rest.unwrap_or(form)));
        roff.text(line);
    }
}

/// Sets flags in bold, and names in capital letters in italics.
fn placeholders(form: &str) -> Vec<Inline> {
    let mut line = Vec::new();
    for piece in
        form.split_inclusive(|char: char| !char.is_ascii_alphanumeric() && char != '_' && char != '-')
    {
        let name =
            piece.trim_end_matches(|char: char| !char.is_ascii_alphanumeric() && char != '_' && char != '-');
        let rest = &piece[name.len()..];
        line.push(match name {
            _ if name.starts_with('-') => bold(name),
            _ if name.len() > 1 && name.chars().all(|char| char.is_ascii_uppercase()) => italic(name),
            _ => roman(name),
        });
        line.push(roman(rest));
    }
    line
}

/// The summary as a sentence, and the text of the help.
fn description(roff: &mut Roff, about: &str, help: &Help, rename: &dyn Fn(&str) -> String) {
    roff.control("SH", ["DESCRIPTION"]);
    roff.text(prose(&format!("{}.", rename(about))));
    for paragraph in help.paragraphs.iter().filter(|text| *text != about) {
        roff.control("PP", []);
        roff.text(prose(&rename(paragraph)));
    }
}

fn commands(roff: &mut Roff, command: &Command) {
    let mut children: Vec<_> = subcommands(command).collect();
    children.sort_by_key(|child| child.get_display_order());
    if children.is_empty() {
        return;
    }
    roff.control("SH", ["COMMANDS"]);
    for child in children {
        roff.control("TP", []);
        roff.text(reference(name(child)));
        roff.text(prose(&child.get_about().map(ToString::to_string).unwrap_or_default()));
    }
}

/// A section of its own for a block of the help.
fn titled(roff: &mut Roff, block: &Block, rename: &dyn Fn(&str) -> String) {
    list(roff, &block.title.to_uppercase(), block.rows.clone(), rename);
}

/// A section with names and what they stand for. A text with an empty name is a paragraph.
fn list(roff: &mut Roff, title: &str, rows: Vec<(String, String)>, rename: &dyn Fn(&str) -> String) {
    if rows.is_empty() {
        return;
    }
    roff.control("SH", [title]);
    for (number, (name, text)) in rows.into_iter().enumerate() {
        if !name.is_empty() {
            roff.control("TP", []);
            roff.text([bold(rename(&name))]);
        } else if number > 0 {
            roff.control("PP", []);
        }
        roff.text(prose(&rename(&text)));
    }
}

fn examples(roff: &mut Roff, help: &Help, rename: &dyn Fn(&str) -> String) {
    if help.examples.is_empty() {
        return;
    }
    roff.control("SH", ["EXAMPLES"]);
    for (number, example) in help.examples.iter().enumerate() {
        if number > 0 {
            roff.control("PP", []);
        }
        roff.text(prose(&rename(&example.purpose)));
        roff.control("PP", []);
        roff.control("RS", ["4"]);
        roff.control("nf", []);
        for line in &example.lines {
            roff.text([roman(rename(line))]);
        }
        roff.control("fi", []);
        roff.control("RE", []);
    }
}

/// The pages of the parent, of related commands and of other programs.
fn see_also(roff: &mut Roff, command: &Command, facts: &Facts) {
    let own = name(command);
    let parent = own.rsplit_once('-').map(|(parent, _)| parent);
    let children = subcommands(command).map(name);
    let related = facts.related.iter().copied().filter(|&name| name != own);
    let mut names: Vec<&str> = Vec::new();
    for name in parent.into_iter().chain(children).chain(related) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut line = Vec::new();
    for name in names {
        if !line.is_empty() {
            line.push(roman(", "));
        }
        line.extend(reference(name));
    }
    roff.control("SH", ["SEE ALSO"]);
    roff.text(line);
}

/// The name of a page with its section.
fn reference(page: &str) -> Vec<Inline> {
    vec![bold(page), roman(format!("({SECTION})"))]
}

/// A text with its flags in bold.
pub(super) fn prose(text: &str) -> Vec<Inline> {
    let (mut line, mut plain) = (Vec::new(), 0);
    let mut at = 0;
    while let Some(dash) = text[at..].find('-').map(|offset| at + offset) {
        let end = dash + flag_length(&text[dash..]);
        let is_start = text[..dash].chars().next_back().is_none_or(|before| " ('\"/[".contains(before));
        if !is_start || end == dash {
            at = dash + 1;
            continue;
        }
        line.push(roman(&text[plain..dash]));
        line.push(bold(&text[dash..end]));
        (plain, at) = (end, end);
    }
    line.push(roman(&text[plain..]));
    line.retain(|inline| *inline != roman(""));
    line
}

/// Length of the flag at the beginning of a text; 0 without one. A dash before a digit is a sign.
fn flag_length(text: &str) -> usize {
    let name = text.trim_start_matches('-');
    let dashes = text.len() - name.len();
    if dashes > 2 || !name.starts_with(|char: char| char.is_ascii_alphabetic()) {
        return 0;
    }
    let end = name.find(|char: char| !char.is_ascii_alphanumeric() && char != '-');
    dashes + end.unwrap_or(name.len())
}

/// The text of a page. Characters that formatters would replace, or may not know, are named.
fn source(roff: &Roff) -> String {
    let mut text = String::new();
    // Two backslashes are one only where no macro reads them a second time, and may seem to begin an escape.
    for char in roff.render().replace(r"\\", r"\(rs").chars() {
        match char {
            '^' => text.push_str("\\(ha"),
            '~' => text.push_str("\\(ti"),
            '`' => text.push_str("\\(ga"),
            '…' => text.push_str("..."),
            char if char.is_ascii() => text.push(char),
            char => text.push_str(&format!("\\[u{:04X}]", u32::from(char))),
        }
    }
    text
}
