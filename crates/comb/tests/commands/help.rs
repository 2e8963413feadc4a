//! Help pages: all of them have the same form.

use std::path::Path;

use crate::support::{COMB, program, run};

/// The help page of a command on a terminal of 80 columns.
fn page(command: &[String], flag: &str) -> String {
    let (page, err, code) = run(program(COMB, Path::new("/")).args(command).arg(flag).env("COLUMNS", "80"));
    assert_eq!((err.as_str(), code), ("", Some(0)), "{command:?} {flag}");
    page
}

/// Subcommands with their summaries, as listed on a help page.
fn subcommands(page: &str) -> Vec<(String, String)> {
    let lines = page.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = lines.take_while(|line| !line.is_empty()).filter_map(|line| line.trim().split_once("  "));
    let listed = commands.filter(|(name, _)| *name != "help");
    listed.map(|(name, summary)| (name.to_owned(), summary.trim().to_owned())).collect()
}

/// Checks the pages of a command and of its subcommands. Returns the number of commands.
fn check(command: &[String], summary: &str) -> usize {
    let page = page(command, "--help");
    let (about, rest) = page.split_once("\n\nUsage: ").unwrap_or_else(|| panic!("{command:?}: {page}"));
    let examples = about.strip_prefix(&format!("{summary}\n\nExamples:\n"));
    let examples = examples.unwrap_or_else(|| panic!("{command:?}: {about}"));
    let examples: Vec<&str> = examples.lines().take_while(|line| !line.is_empty()).collect();
    let is_wrapped = |line: &&str| !line.starts_with("  ");
    assert_eq!(examples.iter().find(|line| is_wrapped(line)), None, "{command:?}");
    let lines = examples.iter().filter(|line| line.starts_with("      ") && line.contains("comb "));
    assert!(lines.count() >= 2, "{command:?}: {about}");
    assert!(!rest.contains("Examples:"), "{command:?}: {rest}");
    let short = self::page(command, "-h");
    assert!(short.starts_with(&format!("{summary}\n\nUsage: ")), "{command:?}: {short}");
    assert!(!short.contains("Examples:"), "{command:?}: {short}");
    let below = subcommands(&page).into_iter();
    let below = below.map(|(name, summary)| check(&[command, &[name]].concat(), &summary));
    1 + below.sum::<usize>()
}

#[test]
fn every_help_page_has_two_examples_after_its_summary() {
    let summary = "Searches and counts code, logs and text on all cores, with a built-in profiler";
    assert!(check(&[], summary) > 20);
}

#[test]
fn commands_are_listed_by_importance() {
    let names: Vec<_> = subcommands(&page(&[], "--help")).into_iter().map(|(name, _)| name).collect();
    let expected = "top grep symbols find index serve mcp pi bench links completions man cgi";
    assert_eq!(names.join(" "), expected);
}
