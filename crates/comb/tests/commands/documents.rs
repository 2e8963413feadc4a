//! README and the book in `docs/`: the commands that they show print what they show, and their links lead somewhere.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::Place;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every Markdown file below `docs/`.
fn pages(directory: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// README, the other documents at the top, and the book.
fn documents() -> Vec<PathBuf> {
    let root = root();
    let names = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    let mut found = names.map(|name| root.join(name)).to_vec();
    pages(&root.join("docs"), &mut found);
    found
}

/// A command of a document with what is shown below it.
#[derive(Default)]
struct Session {
    command: String,
    output: String,
    /// Messages of comb on standard error, which begin with its name.
    messages: String,
}

/// Commands of the `console` blocks of a document.
fn sessions(document: &str) -> Vec<Session> {
    let mut sessions: Vec<Session> = Vec::new();
    let mut shown = false;
    for line in document.lines() {
        match line.strip_prefix("$ ") {
            _ if line.starts_with("```") => shown = line == "```console",
            Some(command) if shown => {
                sessions.push(Session { command: command.to_owned(), ..Session::default() });
            }
            _ if shown => {
                let session = sessions.last_mut().expect("a command before its output");
                let stream = match line.starts_with("comb: ") {
                    true => &mut session.messages,
                    false => &mut session.output,
                };
                stream.push_str(line);
                stream.push('\n');
            }
            _ => {}
        }
    }
    sessions
}

/// Lines outside of code, with the code spans in them blanked.
fn prose(document: &str) -> String {
    let mut fenced = false;
    let mut prose = String::new();
    for line in document.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            prose.extend(line.split('`').step_by(2));
            prose.push('\n');
        }
    }
    prose
}

/// Targets of the links and pictures of a document, without those to other sites.
fn links(document: &str) -> Vec<String> {
    prose(document)
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|target| !target.contains("://"))
        .map(str::to_owned)
        .collect()
}

/// Anchors of the headings of a document, as GitHub and mdBook make them.
fn anchors(document: &str) -> Vec<String> {
    let mut fenced = false;
    let headings = document.lines().filter(|line| {
        fenced ^= line.starts_with("```");
        !fenced && line.starts_with('#')
    });
    headings
        .map(|heading| {
            let heading = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = heading.chars().filter(|&c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

#[test]
fn the_commands_of_the_documents_print_what_is_shown() {
    let mut commands = 0;
    for path in documents() {
        let sessions = sessions(&text(&path));
        if sessions.is_empty() {
            continue;
        }
        let directory = tempfile::tempdir().expect("a directory");
        std::os::unix::fs::symlink(root().join("samples"), directory.at("samples")).expect("a link");
        for Session { command, output: expected, messages } in sessions {
            let (output, errors, _) = directory.run(&command);
            assert_eq!(errors, messages, "{}: {command}", path.display());
            assert_eq!(output.trim_end(), expected.trim_end(), "{}: {command}", path.display());
            commands += 1;
        }
    }
    assert!(commands > 20, "only {commands} commands were found");
}

#[test]
fn the_links_of_the_documents_lead_somewhere() {
    let mut count = 0;
    for path in documents() {
        for link in links(&text(&path)) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target =
                if file.is_empty() { path.clone() } else { path.parent().expect("a directory").join(file) };
            assert!(target.exists(), "{}: there is no {link}", path.display());
            if !anchor.is_empty() {
                let anchors = anchors(&text(&target));
                assert!(
                    anchors.iter().any(|found| found == anchor),
                    "{}: {link}: {anchors:?}",
                    path.display()
                );
            }
            count += 1;
        }
    }
    assert!(count > 40, "only {count} links were found");
}

#[test]
fn every_page_of_the_book_is_in_its_table_of_contents() {
    let docs = root().join("docs");
    let listed = links(&text(&docs.join("SUMMARY.md")));
    let mut found = Vec::new();
    pages(&docs, &mut found);
    for page in found {
        let name = page.strip_prefix(&docs).expect("a page of the book").to_string_lossy();
        assert!(name == "SUMMARY.md" || listed.iter().any(|link| *link == name), "SUMMARY.md lacks {name}");
    }
}

#[test]
fn the_readme_is_short() {
    let lines = text(&root().join("README.md")).lines().count();
    assert!(lines <= 150, "README.md has {lines} lines: at most 150 are read");
}
