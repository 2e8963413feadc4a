//! Definitions of a sample in each language. `OUTLINE=overwrite` writes the expected outlines anew.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use std::{env, fs, thread};

use finecomb_scan::{Inputs, OrderedOptions};
use finecomb_symbols::{
    Kind, Language, ScopeParser, SymbolsFormat, SymbolsOptions, SymbolsOutcome, SymbolsQuery, symbols,
};

/// Lists the definitions of a file.
pub(crate) fn list(file: &Path, format: SymbolsFormat, thorough: bool) -> (SymbolsOutcome, String) {
    list_with(file, &SymbolsOptions::default().format(format).thorough(thorough))
}

fn list_with(file: &Path, options: &SymbolsOptions) -> (SymbolsOutcome, String) {
    let query = SymbolsQuery::new(options).expect("a valid expression");
    let mut out = Vec::new();
    let outcome = symbols(&Inputs::new([file]), &OrderedOptions::default(), &query, &mut out);
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    (outcome, String::from_utf8(out).expect("a sample in UTF-8"))
}

/// The sample of a language in a directory.
fn sample(directory: &str, language: Language) -> PathBuf {
    Path::new(directory).join(language.name()).with_extension(language.extensions()[0])
}

/// Outline with the qualified names of definitions in a scope, as the text has them.
fn with_scopes(outline: &str, text: &str) -> String {
    let mut lines = outline.lines();
    let mut joined = format!("{}\n", lines.next().unwrap_or_default());
    for (line, definition) in lines.zip(text.lines()) {
        let name = definition.split('\t').nth(2).expect("a name in the third column");
        let is_scoped = !line.split(['(', ' ']).any(|word| word == name);
        joined += &if is_scoped { format!("{line}  # {name}\n") } else { format!("{line}\n") };
    }
    joined
}

/// Compares the outlines of the samples in a directory with the expected ones. Returns what differs.
fn differences(directory: &str, has_errors: bool) -> String {
    let overwrite = env::var_os("OUTLINE").is_some_and(|value| value == "overwrite");
    let mut differences = String::new();
    // Every text is Markdown.
    let has_sample = |language: &&Language| !(has_errors && language.name() == "markdown");
    for &language in Language::ALL.iter().filter(has_sample) {
        let file = sample(directory, language);
        let (outcome, outline) = list(&file, SymbolsFormat::Outline, false);
        let outline = with_scopes(&outline, &list(&file, SymbolsFormat::Text, false).1);
        if (outcome.stats.total().files_with_errors > 0) != has_errors {
            differences += &format!(
                "{}: {} with syntax errors\n",
                file.display(),
                outcome.stats.total().files_with_errors
            );
        }
        let expected = file.with_extension("outline");
        if overwrite {
            fs::write(&expected, outline).expect("writable samples");
        } else if fs::read_to_string(&expected).unwrap_or_default() != outline {
            differences += &format!("{} is not the outline, which is\n{outline}", expected.display());
        }
    }
    differences
}

#[test]
fn every_definition_of_the_samples_is_listed_in_its_scope_and_nothing_else() {
    let differences = differences("tests/languages", false);
    assert!(differences.is_empty(), "{differences}");
}

#[test]
fn definitions_before_and_after_a_syntax_error_are_listed() {
    let differences = differences("tests/languages/errors", true);
    assert!(differences.is_empty(), "{differences}");
}

#[test]
fn samples_with_a_part_cut_out_are_listed_whatever_the_part() {
    for &language in Language::ALL {
        let sample = sample("tests/languages", language);
        let text = fs::read(&sample).expect("a sample");
        let directory = tempfile::tempdir().expect("a directory");
        for start in (0..text.len()).step_by(61) {
            let rest = text.get(start + 23..).unwrap_or_default();
            let file = directory.path().join(start.to_string()).with_extension(language.extensions()[0]);
            fs::write(file, [&text[..start], rest].concat()).expect("a file");
        }
        let (outcome, _) = list(directory.path(), SymbolsFormat::Text, true);
        assert!(outcome.stats.total().symbols > 0, "{}", language.name());
    }
}

/// A file that is being written may end within any token.
#[test]
fn texts_that_end_anywhere_are_parsed_to_the_end() {
    let (parsed, is_parsed) = mpsc::channel();
    thread::spawn(move || {
        let mut parser = ScopeParser::default();
        for &language in Language::ALL {
            let file = sample("tests/languages", language);
            let text = fs::read(&file).expect("a sample");
            for end in (0..text.len()).step_by(3) {
                parsed.send(format!("{}, up to byte {end}", language.name())).expect("a test that waits");
                // The last lines up to there, one to three.
                for lines in 1..4 {
                    let before = text[..end].rsplitn(lines + 1, |&byte| byte == b'\n').nth(lines);
                    let text = &text[before.map_or(0, |before| before.len() + 1)..end];
                    let _ = parser.scopes(&file, text);
                }
            }
        }
    });
    let mut last = "none".to_owned();
    loop {
        match is_parsed.recv_timeout(Duration::from_secs(30)) {
            Ok(text) => last = text,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("a scanner does not end: {last}"),
        }
    }
    assert_ne!(last, "none");
}

#[test]
fn only_the_first_name_of_a_line_has_the_line_for_its_signature() {
    let directory = tempfile::tempdir().expect("a directory");
    for (file, text, signatures) in [
        ("Makefile", "a b \\\n c: d\n\te\n", &["a b \\ c: d", "b", "c"]),
        ("Dockerfile", "ENV a=1 b='2 3' \\\n c=4\n", &["ENV a=1 b='2 3' \\ c=4", "b='2 3'", "c=4"]),
    ] {
        let file = directory.path().join(file);
        fs::write(&file, text).expect("a file");
        let (_, found) = list(&file, SymbolsFormat::Text, false);
        let found = found.lines().map(|line| line.rsplit('\t').next().expect("a signature"));
        assert_eq!(found.collect::<Vec<_>>(), signatures, "{}", file.display());
    }
}

#[test]
fn the_list_of_a_name_has_all_definitions_of_that_name() {
    for &language in Language::ALL {
        let file = sample("tests/languages", language);
        let all = list(&file, SymbolsFormat::Json, false).1;
        for line in all.lines() {
            let object: serde_json::Value = serde_json::from_str(line).expect("an object");
            let name = object["name"].as_str().expect("a name");
            let same = |other: &&str| other.contains(&format!("\"name\":{}", object["name"]));
            let mut expected: Vec<&str> = all.lines().filter(same).collect();
            // Types and functions come first.
            expected.sort_by_key(|line| {
                let object: serde_json::Value = serde_json::from_str(line).expect("an object");
                object["kind"].as_str().and_then(|kind| kind.parse().ok()).is_some_and(Kind::is_value)
            });
            let name = Some(format!("^{}$", regex_syntax::escape(name)));
            let options = SymbolsOptions::default().format(SymbolsFormat::Json).name(name);
            let found = list_with(&file, &options).1;
            assert_eq!(found.lines().collect::<Vec<_>>(), expected, "{}", language.name());
        }
    }
}

/// Kind, name, scope, place, extent and signature of each definition in a file. For C, C++ and Objective-C, only kind, name and line:
/// skimming leaves out replacement lists of macros, and changes some extents.
fn objects(file: &Path, language: Language, thorough: bool) -> Vec<String> {
    let is_c = ["c", "cpp", "objc", "objcpp"].contains(&language.name());
    let place = |line: &str| {
        let object: serde_json::Value = serde_json::from_str(line).expect("a JSON object on each line");
        format!("{} {} {}", object["kind"], object["name"], object["line"])
    };
    let (_, objects) = list(file, SymbolsFormat::Json, thorough);
    objects.lines().map(|line| if is_c { place(line) } else { line.to_owned() }).collect()
}

#[test]
fn the_quick_and_the_thorough_list_have_the_same_definitions_in_every_language() {
    for &language in Language::ALL {
        let file = sample("tests/languages", language);
        assert_eq!(objects(&file, language, false), objects(&file, language, true), "{}", language.name());
    }
}

#[test]
fn a_file_that_is_parsed_in_pieces_has_the_same_definitions() {
    let is_cut = |language: &&Language| ["c", "cpp", "go", "java", "rust"].contains(&language.name());
    for &language in Language::ALL.iter().filter(is_cut) {
        let text = fs::read_to_string(sample("tests/languages", language)).expect("a sample in UTF-8");
        let file = tempfile::Builder::new()
            .suffix(&format!(".{}", language.extensions()[0]))
            .tempfile()
            .expect("a file");
        fs::write(file.path(), text.repeat((512 << 10) / text.len())).expect("a file");
        let [quick, thorough] = [false, true].map(|thorough| objects(file.path(), language, thorough));
        assert!(quick == thorough, "{}", language.name());
    }
}
