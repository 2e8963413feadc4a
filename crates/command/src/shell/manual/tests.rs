use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::facts::Facts;
use crate::shell::manual::{command, page, pages};

/// The titles of the sections of a page, in order.
fn sections(page: &str) -> Vec<&str> {
    page.lines().filter_map(|line| line.strip_prefix(".SH ")).map(|title| title.trim_matches('"')).collect()
}

#[test]
fn every_command_has_a_page_with_all_sections_in_order() {
    const ORDER: &str = "NAME|SYNOPSIS|DESCRIPTION|COMMANDS|OPTIONS|CONFIGURATION|SIGNALS|EXAMPLES|EXIT STATUS|\
ENVIRONMENT|FILES|SEE ALSO";
    const OPTIONAL: &[&str] = &["COMMANDS", "CONFIGURATION", "SIGNALS", "FILES"];
    let pages = pages();
    assert!(pages.len() > 20);
    for page in &pages {
        let text = &page.roff;
        let sections = sections(text);
        let expected = ORDER.split('|').filter(|title| sections.contains(title) || !OPTIONAL.contains(title));
        assert_eq!(sections, expected.collect::<Vec<_>>(), "{}", page.name);
        assert!(text.contains(&format!(".TH {} 1 ", page.name)), "{text}");
    }
}

#[test]
fn pages_are_the_same_everywhere() {
    for page in pages() {
        let text = page.roff;
        assert!(text.is_ascii(), "{}", page.name);
        let title =
            format!(".TH {} 1 \"\" \"comb {}\" \"Finecomb Manual\"", page.name, env!("CARGO_PKG_VERSION"));
        assert!(text.lines().any(|line| line == title), "{}", page.name);
    }
}

#[test]
fn examples_are_in_their_section_only() {
    for page in pages() {
        let text = page.roff;
        let (before, after) = text.split_once(".SH EXAMPLES\n").expect("examples");
        assert!(!before.contains("Examples:"), "{}", page.name);
        assert!(after.contains(".nf\n") && after.contains("comb "), "{}", page.name);
    }
}

#[test]
fn facts_are_about_commands_and_refer_to_pages() {
    let names: Vec<String> = pages().into_iter().map(|page| page.name).collect();
    let is_optional =
        |name: &str| ["mcp", "pi", "symbols", "index-watch"].iter().any(|end| name.ends_with(end));
    for name in &names {
        let words: Vec<String> = name.split('-').skip(1).map(str::to_owned).collect();
        let command = command(&words).expect("a command");
        let facts = command.get::<Facts>().unwrap_or_else(|| panic!("no facts about {name}"));
        for related in facts.related.split(' ').filter(|related| !related.is_empty()) {
            let is_known =
                names.iter().any(|page| page == related) || is_optional(related) || related == "man";
            assert!(is_known, "{name}: {related}");
        }
    }
}

#[test]
fn words_name_a_page() {
    let words = ["index", "build"].map(str::to_owned);
    assert_eq!(page(&words).map(|page| page.name), Ok("comb-index-build".to_owned()));
    let wrong = ["index", "nothing"].map(str::to_owned);
    let reason = "unknown command 'nothing'; 'comb index --help' lists all commands";
    assert_eq!(page(&wrong).map(|page| page.name), Err(reason.to_owned()));
}

#[test]
fn flags_are_bold_in_prose() {
    let page = page(&["top".to_owned()]).expect("a page").roff;
    assert!(page.contains("or what \\fB\\-e\\fR matches"), "{page}");
    assert!(page.contains(r"(\(rsn or \(rsr\(rsn)"), "{page}");
    // A negative number is no flag.
    assert!(page.contains("or \\-1 for the last"), "{page}");
}

/// The source files of a directory, and of those below it.
fn sources(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Literals that are names of variables, in a file that reads the environment.
fn variables(source: &str) -> impl Iterator<Item = &str> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let is_reader = code.contains("env::var") || code.contains("from_environment");
    let literals = code.split('"').skip(1).step_by(2);
    literals.filter(move |name| {
        let is_name = |char: char| char.is_ascii_uppercase() || char == '_';
        is_reader && name.len() > 2 && name.chars().all(is_name)
    })
}

#[test]
fn every_environment_variable_that_is_read_is_on_a_page() {
    let rg = crate::as_rg::manual();
    let all: String = pages().into_iter().map(|page| page.roff).chain([rg]).collect();
    let mut files = Vec::new();
    for directory in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).expect("the crates") {
        let source = directory.expect("an entry").path().join("src");
        if source.is_dir() {
            sources(&source, &mut files);
        }
    }
    let mut read = 0;
    for file in files {
        for variable in variables(&fs::read_to_string(&file).expect("a source file")) {
            assert!(all.contains(variable), "{}: {variable} is on no page", file.display());
            read += 1;
        }
    }
    assert!(read >= 10, "only {read} variables found");
}
