//! The page of a command.

use std::io::{self, Write};

use clap::{Arg, Command};
use clap_mangen::Man;
use regex_automata::meta::Regex;
use roff::Roff;

use crate::shell::facts::{COLOR, Facts};
use crate::shell::manual::help::{Help, section};
use crate::shell::manual::subcommands;

/// Printed at the foot of each page.
const SOURCE: &str = concat!("comb ", env!("CARGO_PKG_VERSION"));

/// Printed at the head of each page.
const BOOK: &str = "Finecomb Manual";

/// No hyphens in the names of flags, variables and pages, which are searched for, and no blanks to justify the lines.
const LAYOUT: &str = ".nh\n.ad l\n";

/// Flags, but no dash before a digit; names of pages before their section; and values that an argument may have.
const BOLD: &str = r#"(?mx)
    (?: ^ | [\ ("/\[] | \(Aq ) (?: ( (?:\\-){1,2} [A-Za-z] (?: [A-Za-z0-9] | \\- )* ) | ( [a-z]+ (?: \\- [a-z]+ )* ) \(1\) )
    | ^\.IP\ \\\(bu\ 2\n ( [^:\n]+ )"#;

/// Names in capital letters, other than the title of a section.
const ITALIC: &str = r"(?m)^\.SH .*|\b([A-Z]{2,})\b";

/// The name of the page of a command.
pub(super) fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// The page of a command.
pub(super) fn roff(command: &Command) -> String {
    let facts = command.get::<Facts>().copied().unwrap_or_default();
    let about = command.get_long_about().or(command.get_about());
    let mut help = Help::parse(about.into_iter().chain(command.get_after_long_help()));
    let examples = help.take("EXAMPLES").unwrap_or_default();
    let status = help.take("EXIT STATUS").unwrap_or_else(|| facts.exit_status.to_owned());
    // Without a date, as pages are those of a version.
    let man = Man::new(documented(command, &help.paragraphs)).date("\"\"").source(SOURCE).manual(BOOK);
    let part = |render: fn(&Man, &mut dyn Write) -> io::Result<()>| {
        let mut out = Vec::new();
        // Memory takes all.
        let _ = render(&man, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    };
    let options = part(Man::render_options_section);
    // The sections of the headings are within one.
    let options = match options.matches(".SH ").count() {
        1 => options,
        _ => format!(".SH OPTIONS\n{}", options.replace(".SH ", ".SS ")),
    };
    let has_commands = subcommands(command).next().is_some();
    let commands = if has_commands { part(Man::render_subcommands_section) } else { String::new() };
    let blocks: String = help.blocks.iter().map(|(title, lines)| section(title, lines)).collect();
    let lists = [
        section("EXIT STATUS", &status),
        section("ENVIRONMENT", &[facts.environment, &[COLOR]].concat().join("\n")),
        section("FILES", &facts.files.join("\n")),
        section("SEE ALSO", &see_also(command, facts.related)),
    ];
    let parts = [
        part(Man::render_title) + LAYOUT + &part(Man::render_name_section),
        set_in('B', BOLD, &set_in('I', ITALIC, &part(Man::render_synopsis_section))),
        set_in('B', BOLD, &(part(Man::render_description_section) + &commands + &options + &blocks)),
        section("EXAMPLES", &examples),
        set_in('B', BOLD, &lists.concat()),
    ];
    // Each part begins with the definition of an apostrophe.
    let beginning = Roff::new().render();
    portable(&(beginning.clone() + &parts.concat().replace(&beginning, "")))
}

/// The definition of a command as the page has it: without examples, and with headings for all arguments.
fn documented(command: &Command, paragraphs: &[String]) -> Command {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let others = paragraphs.iter().filter(|text| **text != about);
    let description: Vec<String> = [format!("{about}.")].into_iter().chain(others.cloned()).collect();
    // Brackets are for what may be omitted.
    let usage = command.clone().render_usage().to_string().replace(['<', '>'], "");
    let argument = |arg: Arg| {
        let is_hidden = arg.is_hide_set() || arg.is_hide_long_help_set();
        let short = arg.get_visible_short_aliases().unwrap_or_default();
        let long = arg.get_visible_aliases().unwrap_or_default();
        let short = short.iter().map(|alias| format!("-{alias}"));
        let aliases: Vec<String> = short.chain(long.iter().map(|alias| format!("--{alias}"))).collect();
        let aliases = (!aliases.is_empty()).then(|| format!("Same as {}.", aliases.join(", ")));
        let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string);
        let help: Vec<String> = help.into_iter().chain(aliases).collect();
        let heading = if arg.is_positional() { "Arguments" } else { "Options" };
        let arg = arg.long_help(help.join("\n\n")).hide(is_hidden);
        if arg.get_help_heading().is_none() { arg.help_heading(heading) } else { arg }
    };
    command
        .clone()
        .long_about(description.join("\n\n"))
        .override_usage(usage.trim_start_matches("Usage:").trim().to_owned())
        .subcommand_help_heading("COMMANDS")
        .mut_args(argument)
        .mut_subcommands(|child| if child.get_name() == "help" { child.hide(true) } else { child })
}

/// Sets what the groups of a pattern match in a font.
fn set_in(font: char, pattern: &str, text: &str) -> String {
    let pattern = Regex::new(pattern).expect("a valid pattern");
    let (mut out, mut end) = (String::new(), 0);
    for found in pattern.captures_iter(text) {
        let Some(group) = (1..found.group_len()).find_map(|group| found.get_group(group)) else { continue };
        out += &format!("{}\\f{font}{}\\fR", &text[end..group.start], &text[group.range()]);
        end = group.end;
    }
    out + &text[end..]
}

/// The pages of the parent, of commands and of related ones.
fn see_also(command: &Command, related: &str) -> String {
    let own = name(command);
    let parent = own.rsplit_once('-').map(|(parent, _)| parent);
    let children = subcommands(command).map(name);
    let mut names: Vec<&str> = Vec::new();
    for name in parent.into_iter().chain(children).chain(related.split(' ')) {
        if !name.is_empty() && name != own && !names.contains(&name) {
            names.push(name);
        }
    }
    names.iter().map(|name| format!("{name}(1)")).collect::<Vec<_>>().join(", ")
}

/// A page in ASCII. Characters that formatters would replace, or may not know, are named.
fn portable(page: &str) -> String {
    let mut text = String::new();
    // Two backslashes are one only where no macro reads them a second time, and may seem to begin an escape.
    for char in page.replace(r"\\", r"\(rs").chars() {
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
