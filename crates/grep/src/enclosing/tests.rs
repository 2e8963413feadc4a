//! Lines of definitions against a plain reference implementation.

use std::collections::HashSet;

use finecomb_scan::{Inputs, OrderedOptions, ScanOptions};
use proptest::prelude::*;

use super::*;
use crate::options::{GrepOptions, Mode, PatternOptions};
use crate::{Query, grep};

/// Finder for a language in which a scope begins with the line of `{` and ends with `}`. Texts with `!` are not parsed.
pub(crate) struct Braces;

impl Braces {
    pub(crate) fn finder() -> Box<dyn ScopeFinder> {
        Box::new(Self)
    }
}

impl ScopeFinder for Braces {
    fn knows(&self, path: &Path) -> bool {
        path.extension().is_none_or(|extension| extension != "notes")
    }

    fn size_limit(&self) -> usize {
        1 << 20
    }

    fn scopes(&mut self, path: &Path, text: &[u8]) -> Result<Vec<Scope>, String> {
        if !self.knows(path) {
            return Ok(Vec::new());
        }
        if text.contains(&b'!') {
            return Err("too loud".to_owned());
        }
        let (mut open, mut scopes) = (Vec::new(), Vec::new());
        for (at, byte) in text.iter().enumerate() {
            match byte {
                b'{' => open.push(at),
                b'}' => scopes.extend(open.pop().map(|begin| {
                    let scope = (!open.is_empty()).then(|| "outer".to_owned());
                    Scope {
                        kind: "function",
                        name: format!("{begin}"),
                        scope,
                        extent: begin..at + 1,
                        line: begin,
                    }
                })),
                _ => {}
            }
        }
        Ok(scopes)
    }
}

/// Printed lines: number from 0, and separator.
fn expected_lines(text: &str, options: &GrepOptions) -> Vec<(usize, char)> {
    let lines: Vec<&str> = text.lines().collect();
    let scopes = Braces.scopes(Path::new("a"), text.as_bytes()).expect("scopes");
    let line_of = |at: usize| text[..at].matches('\n').count();
    let innermost = |line: usize| {
        let around = scopes
            .iter()
            .filter(|scope| (line_of(scope.extent.start)..=line_of(scope.extent.end - 1)).contains(&line));
        around.max_by_key(|scope| scope.extent.start).map(|scope| line_of(scope.line))
    };
    let matches: Vec<usize> =
        (0..lines.len()).filter(|&line| lines[line].contains('a') != options.invert).collect();
    let matches = &matches[..matches.len().min(options.max_count.unwrap_or(u64::MAX) as usize)];
    let (before, after) = match options.passthru {
        true => (usize::MAX, usize::MAX),
        false => (options.before_context, options.after_context),
    };
    let (mut printed, mut shown): (Vec<(usize, char)>, HashSet<usize>) = Default::default();
    let mut next = 0_usize;
    for (index, &line) in matches.iter().enumerate() {
        if index > 0 && !options.passthru {
            let trailing = next..line.min(next.saturating_add(after));
            next = trailing.end;
            shown.extend(trailing.clone());
            printed.extend(trailing.map(|line| (line, '-')));
        }
        let leading = next.max(line.saturating_sub(before))..line;
        let definition =
            innermost(line).filter(|definition| *definition < line && !shown.contains(definition));
        printed.extend(definition.filter(|definition| !leading.contains(definition)).map(|line| (line, '=')));
        printed.extend(leading.clone().map(|line| (line, if Some(line) == definition { '=' } else { '-' })));
        printed.push((line, ':'));
        shown.extend(leading.chain([line]).chain(definition));
        next = line + 1;
    }
    if !matches.is_empty() || options.passthru {
        printed.extend((next..lines.len().min(next.saturating_add(after))).map(|line| (line, '-')));
    }
    printed
}

/// The reference output.
fn expected_output(text: &str, options: &GrepOptions) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let has_gaps = !options.passthru && options.before_context + options.after_context > 0;
    let (mut out, mut last) = (String::new(), None);
    for (line, separator) in expected_lines(text, options) {
        if has_gaps && last.is_some_and(|last| last + 1 != line) {
            out += "--\n";
        }
        out += &format!("{}{separator}{}\n", line + 1, lines[line]);
        last = Some(line);
    }
    out
}

/// Output for a file, and the messages about it.
fn output(name: &str, text: &[u8], options: &GrepOptions) -> (String, Vec<String>) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join(name);
    std::fs::write(&path, text).expect("a file");
    let mut out = Vec::new();
    let scan = ScanOptions::default().block_size(3).into();
    let outcome = grep(&Inputs::new([path]), &scan, &Query::new(options).expect("a pattern"), &mut out);
    let failures = outcome.failures.into_iter().map(|(_, reason)| reason).collect();
    (String::from_utf8_lossy(&out).into_owned(), failures)
}

fn options(mode: Mode) -> GrepOptions {
    let pattern = PatternOptions { patterns: ["a".to_owned()].into(), ..PatternOptions::default() };
    GrepOptions {
        pattern,
        mode,
        line_number: true,
        enclosing: Some(Braces::finder),
        ..GrepOptions::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4 * ProptestConfig::default().cases))]

    #[test]
    fn a_definition_is_printed_once_before_the_first_match_in_it_unless_its_line_is_printed(
        text in "([ab{} ]{0,5}\n){0,30}",
        before_context in prop::sample::select(vec![0, 0, 1, 3]),
        after_context in prop::sample::select(vec![0, 0, 1, 3]),
        passthru: bool,
        invert: bool,
        max_count in prop::sample::select(vec![None, None, Some(2)]),
    ) {
        // At the limit, matching lines in the trailing context are another matter.
        let after_context = if max_count.is_some() { 0 } else { after_context };
        let passthru = passthru && max_count.is_none();
        let options =
            GrepOptions { before_context, after_context, passthru, invert, max_count, ..options(Mode::Lines) };
        let (printed, failures) = output("file", text.as_bytes(), &options);
        prop_assert_eq!((printed, failures), (expected_output(&text, &options), Vec::new()));
    }

    #[test]
    fn the_definition_around_a_line_is_the_innermost_one(text in "([ab{} ]{0,5}\n){0,30}") {
        let options = options(Mode::Json);
        let lines: Vec<&str> = text.lines().collect();
        for message in output("file", text.as_bytes(), &options).0.lines() {
            let message: serde_json::Value = serde_json::from_str(message).expect("JSON");
            let data = &message["data"];
            if message["type"] != "match" {
                continue;
            }
            let number = data["line_number"].as_u64().expect("a number") as usize;
            let around: Vec<(usize, usize)> = scope_lines(&text)
                .into_iter()
                .filter(|(first, last)| (*first..=*last).contains(&number))
                .collect();
            let found = &data["enclosing"];
            let Some(first) = found["line"].as_u64() else {
                prop_assert!(around.is_empty() && found.is_null(), "{}", message);
                continue;
            };
            let last = found["end_line"].as_u64().expect("a number");
            let place = (first as usize, last as usize);
            prop_assert!(around.contains(&place), "{}", message);
            prop_assert!(around.iter().all(|(first, _)| *first <= place.0), "{}", message);
            let line = format!("{}\n", lines[place.0 - 1]);
            prop_assert_eq!(found["lines"]["text"].as_str(), Some(line.as_str()));
        }
    }
}

/// First and last lines of all scopes, from 1.
fn scope_lines(text: &str) -> Vec<(usize, usize)> {
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    let scopes = Braces.scopes(Path::new("a"), text.as_bytes()).expect("scopes");
    scopes.into_iter().map(|Scope { extent, .. }| (line(extent.start), line(extent.end - 1))).collect()
}

const TEXT: &str = "f {\nb\na\n}\n";

#[test]
fn binary_files_and_unknown_languages_have_no_definitions() {
    let lines = options(Mode::Lines);
    assert_eq!(output("file", TEXT.as_bytes(), &lines).0, "1=f {\n3:a\n");
    assert_eq!(output("file.notes", TEXT.as_bytes(), &lines).0, "3:a\n");
    let text = format!("{TEXT}\0\n");
    let notice = "binary file matches (found \"\\0\" byte around offset 10)\n";
    assert_eq!(output("file", text.as_bytes(), &lines), (notice.to_owned(), Vec::new()));
    let as_text = GrepOptions { binary: crate::Binary::Text, ..lines };
    assert_eq!(output("file", text.as_bytes(), &as_text).0, "1=f {\n3:a\n");
}

#[test]
fn matches_in_a_text_that_is_not_parsed_are_printed_with_one_message() {
    let text = "f {\na!\na\n}\n";
    let message = "too loud; definitions around its matches are not shown".to_owned();
    for multiline in [false, true] {
        let mut lines = options(Mode::Lines);
        lines.pattern.multiline = multiline;
        lines.pattern.patterns = [if multiline { r"a!?\n" } else { "a" }.to_owned()].into();
        assert_eq!(
            output("file", text.as_bytes(), &lines),
            ("2:a!\n3:a\n".to_owned(), vec![message.clone()])
        );
    }
}

#[test]
fn a_text_that_is_too_large_is_searched_in_blocks_with_one_message() {
    let text = format!("f {{\n{}a\na\n}}\n", ("b".repeat(8191) + "\n").repeat(1 << 7));
    let message = "larger than 1 MiB; definitions around its matches are not shown".to_owned();
    assert_eq!(
        output("file", text.as_bytes(), &options(Mode::Lines)),
        ("130:a\n131:a\n".to_owned(), vec![message.clone()])
    );
    let (out, messages) = output("file", text.as_bytes(), &options(Mode::Json));
    assert_eq!((out.matches("\"enclosing\":null").count(), messages), (2, vec![message]));
    assert_eq!(output("file.notes", text.as_bytes(), &options(Mode::Lines)).1, Vec::<String>::new());
}

#[test]
fn statistics_count_the_lines_of_definitions_as_printed() {
    for multiline in [false, true] {
        let mut lines = GrepOptions { stats: true, colors: Some(Default::default()), ..options(Mode::Lines) };
        lines.pattern.multiline = multiline;
        lines.pattern.patterns = [if multiline { r"a\n" } else { "a" }.to_owned()].into();
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::write(directory.path().join("file"), TEXT).expect("a file");
        let query = Query::new(&lines).expect("a pattern");
        let mut out = Vec::new();
        let outcome = grep(&Inputs::new([directory.path()]), &OrderedOptions::default(), &query, &mut out);
        assert_eq!(outcome.stats.bytes_printed(), "1=f {\n3:a\n".len() as u64, "{multiline}");
    }
}
