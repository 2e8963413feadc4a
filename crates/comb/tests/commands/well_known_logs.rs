//! docs/well-known-logs.md: every format of the product has a section, and its questions can be asked of the log that is shown.

use std::fs;

use tempfile::tempdir;

use crate::support::{Place, write};

/// A section about a format.
struct Section<'p> {
    name: &'p str,
    log: &'p str,
    commands: Vec<&'p str>,
}

fn sections(page: &str) -> Vec<Section<'_>> {
    let block = |section: &'_ str, kind: &str| -> Option<(usize, usize)> {
        let start = section.find(&format!("```{kind}\n"))? + kind.len() + 4;
        Some((start, start + section[start..].find("```")?))
    };
    let section = |text| -> Option<Section<'_>> {
        let (log, commands) = (block(text, "text")?, block(text, "sh")?);
        let commands = text[commands.0..commands.1].lines().filter(|line| !line.starts_with('#')).collect();
        Some(Section { name: text.lines().next()?, log: &text[log.0..log.1], commands })
    };
    page.split("\n### ").skip(1).map(|text| section(text).expect("a log and commands")).collect()
}

#[test]
fn each_question_has_an_answer_without_messages() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/well-known-logs.md");
    let page = fs::read_to_string(path).expect("the page");
    let sections = sections(&page);
    for Section { name, log, commands } in &sections {
        assert_eq!(commands.len(), 3, "{name}");
        for command in commands {
            let directory = tempdir().expect("a directory");
            let file = command.rsplit(' ').next().expect("a file");
            write(&directory, file, log);
            let (output, errors, status) = directory.run(command);
            assert_eq!((&*errors, status), ("", Some(0)), "{name}: {command}");
            assert!(!output.is_empty(), "{name}: {command}");
        }
    }
    let formats = concat!(env!("CARGO_MANIFEST_DIR"), "/../top/formats");
    let files = fs::read_dir(formats).expect("a directory").map(|entry| entry.expect("a file").file_name());
    let mut files: Vec<String> =
        files.map(|name| name.to_string_lossy().trim_end_matches(".toml").to_owned()).collect();
    files.sort();
    let mut names: Vec<&str> = sections.iter().map(|section| section.name).collect();
    names.sort_unstable();
    assert_eq!(names, files);
}
