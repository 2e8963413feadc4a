//! Tests of command lines and the resulting options.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::Parser;
use clap::error::ErrorKind;
use finecomb_grep::{Binary, Boundary, Case, Engine, GrepOptions, LineEnd, Mode};
use finecomb_scan::{Encoding, Mapping, RuleFiles, Sort, SortKey, WalkOptions, Width};

use crate::grep::args::{Arguments, Job, Paths, UsageError, hints};
use crate::terminal::When;

#[derive(Parser)]
#[command(name = "grep")]
struct GrepCommand {
    #[command(flatten)]
    arguments: Arguments,
}

fn try_parse(line: &[&str]) -> Result<Arguments, clap::Error> {
    let line = ["grep"].iter().chain(line);
    GrepCommand::try_parse_from(line).map(|whole| whole.arguments).map_err(hints::add_hint)
}

fn parse(line: &str) -> Arguments {
    let words: Vec<&str> = line.split_whitespace().collect();
    try_parse(&words).unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// The options of a search on a terminal in two directories.
fn grep(line: &str) -> GrepOptions {
    options_with(line, true, &["/", "/tmp"])
}

fn options_with(line: &str, terminal: bool, paths: &[&str]) -> GrepOptions {
    let paths = Paths::new(paths.iter().map(PathBuf::from).collect(), || false);
    parse(&format!("{line} -e x")).grep(&paths, terminal).expect("options")
}

fn walk(line: &str) -> WalkOptions {
    parse(line).walk().expect("options")
}

fn usage_error(line: &str) -> String {
    let arguments = parse(line);
    let paths = match arguments.paths() {
        Ok(paths) => paths,
        Err(UsageError(text)) => return text,
    };
    let grep = arguments.grep(&paths, false).map(|_| ());
    grep.and_then(|()| arguments.walk().map(|_| ())).expect_err("an error").0
}

fn parse_error(line: &[&str]) -> String {
    match try_parse(line) {
        Ok(_) => panic!("{line:?} is accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn defaults_are_those_of_ripgrep() {
    let options = options_with("", false, &["/"]);
    assert_eq!(*options.pattern.patterns, ["x"]);
    assert_eq!(options.pattern.case, Case::Sensitive);
    assert_eq!((options.mode, options.binary, options.line_end), (Mode::Lines, Binary::Auto, LineEnd::Lf));
    assert!(options.with_filename && !options.heading && !options.line_number && options.colors.is_none());
    let walk = walk("x");
    assert!(walk.skip_hidden && walk.globs.is_empty() && walk.types.is_empty());
    assert_eq!((walk.rules, walk.sort), (RuleFiles::ALL, Sort::default()));
    assert_eq!(parse("x").scan().max_line, 1 << 30);
}

#[test]
fn the_last_of_conflicting_flags_takes_precedence() {
    assert_eq!(grep("-i -s").pattern.case, Case::Sensitive);
    assert_eq!(grep("-s -i -S").pattern.case, Case::Smart);
    assert_eq!(grep("-S -i").pattern.case, Case::Insensitive);
    assert_eq!(grep("-w -x").pattern.boundary, Some(Boundary::Line));
    assert_eq!(grep("-x -w").pattern.boundary, Some(Boundary::Word));
    assert!(!grep("-F --no-fixed-strings").pattern.fixed_strings);
    assert!(grep("--no-fixed-strings -Q").pattern.fixed_strings);
    assert!(grep("--no-unicode --unicode").pattern.unicode);
    assert_eq!(grep("--crlf --null-data").line_end, LineEnd::Nul);
    assert_eq!(grep("--null-data --crlf").line_end, LineEnd::Crlf);
    assert_eq!(grep("--null-data --crlf --no-crlf").line_end, LineEnd::Lf);
    assert!(!grep("-v --no-invert-match").invert);
    assert!(!grep("-H -I").with_filename && grep("-I -H").with_filename);
    assert!(walk("x -. --no-hidden").skip_hidden && !walk("x --no-hidden -.").skip_hidden);
}

#[test]
fn the_last_engine_takes_precedence() {
    assert_eq!(grep("-P").pattern.engine, Engine::Pcre2);
    assert_eq!(grep("-P --engine=auto").pattern.engine, Engine::Auto);
    assert_eq!(grep("--engine=auto -P --no-pcre2").pattern.engine, Engine::Rust);
    assert_eq!(grep("--engine=pcre2 --auto-hybrid-regex").pattern.engine, Engine::Auto);
    assert_eq!(grep("--auto-hybrid-regex --engine=default").pattern.engine, Engine::Rust);
}

#[test]
fn multiline_and_stop_on_nonmatch_override_each_other() {
    let options = grep("--stop-on-nonmatch -U");
    assert!(options.pattern.multiline && !options.stop_on_nonmatch);
    let options = grep("-U --stop-on-nonmatch");
    assert!(!options.pattern.multiline && options.stop_on_nonmatch);
}

#[test]
fn flags_may_be_repeated() {
    assert!(grep("-n -n -c -c --color=never --color=never -i -i --hidden --hidden --stats --stats").stats);
    assert_eq!(grep("-m 1 -m 2 --replace=a --replace=b").max_count, Some(2));
}

#[test]
fn before_and_after_context_take_precedence_over_context() {
    let context = |line| {
        let options = grep(line);
        (options.before_context, options.after_context, options.passthru)
    };
    assert_eq!(context("-C 2"), (2, 2, false));
    assert_eq!(context("-A 1 -C 2"), (2, 1, false));
    assert_eq!(context("-C 2 -A 0"), (2, 0, false));
    assert_eq!(context("-B3 -C2 -A1"), (3, 1, false));
    assert_eq!(context("-C 2 --passthru"), (0, 0, true));
    assert_eq!(context("-C 2 --passthru -A 1"), (0, 1, false));
}

#[cfg(feature = "symbols")]
#[test]
fn definitions_are_found_by_the_parsers_of_this_build() {
    let finder = grep("--enclosing").enclosing.expect("parsers")();
    assert!(finder.knows(Path::new("src/a.c")) && !finder.knows(Path::new("a.txt")));
    assert!(grep("").enclosing.is_none() && grep("--enclosing --no-enclosing").enclosing.is_none());
}

#[test]
fn each_u_includes_more_files() {
    assert_eq!(walk("x -u").rules, RuleFiles { require_git: true, ..RuleFiles::NONE });
    assert!(walk("x -u").skip_hidden && !walk("x -uu").skip_hidden && !walk("x -u -u").skip_hidden);
    assert_eq!((grep("-uu").binary, grep("-uuu").binary), (Binary::Auto, Binary::Suppress));
    assert_eq!((grep("-uuu -a").binary, grep("-a -uuu").binary), (Binary::Text, Binary::Suppress));
    assert_eq!((grep("-uuuu").binary, grep("-uuu --no-binary").binary), (Binary::Suppress, Binary::Auto));
    assert!(walk("x -uu --no-hidden").skip_hidden && !walk("x -u --no-hidden -u").skip_hidden);
    assert!(walk("x -u --ignore-vcs -u").rules.git);
}

#[test]
fn each_kind_of_rules_can_be_enabled_and_disabled() {
    let rules = |line: &str| walk(&format!("x {line}")).rules;
    assert_eq!(rules("--no-ignore --ignore"), RuleFiles::ALL);
    assert_eq!(rules("--no-ignore-dot --no-ignore-vcs --ignore"), RuleFiles::ALL);
    assert_eq!(rules("--no-ignore-dot"), RuleFiles { dot: false, ..RuleFiles::ALL });
    assert_eq!(rules("--no-ignore-dot --ignore-dot"), RuleFiles::ALL);
    assert_eq!(rules("--no-ignore-global"), RuleFiles { git_global: false, ..RuleFiles::ALL });
    assert_eq!(rules("--no-require-git"), RuleFiles { require_git: false, ..RuleFiles::ALL });
    let git = RuleFiles { git: false, git_exclude: false, git_global: false, ..RuleFiles::ALL };
    assert_eq!(rules("--no-ignore-vcs"), git);
    assert_eq!(rules("--no-ignore --ignore-dot"), RuleFiles { dot: true, ..RuleFiles::NONE });
    assert_eq!(rules("--ignore-dot --no-ignore"), RuleFiles::NONE);
    assert_eq!(rules("--no-ignore --ignore=*.js"), RuleFiles::NONE);
    assert_eq!(walk("x --ignore-file a --ignore-file b").rule_files, [Path::new("a"), Path::new("b")]);
    assert!(walk("x --no-ignore-files --ignore-file a").rule_files.is_empty());
}

#[test]
fn the_last_mode_takes_precedence() {
    let mode = |line| grep(line).mode;
    assert_eq!(mode("-c -l"), Mode::FilesWithMatches);
    assert_eq!(mode("-l --files-without-match"), Mode::FilesWithoutMatch);
    assert_eq!(mode("--json -c"), Mode::Count);
    assert_eq!(mode("-c --json"), Mode::Json);
    assert_eq!(mode("-c --json --no-json"), Mode::Lines);
    assert_eq!(mode("--json -c --no-json"), Mode::Count);
    assert_eq!(mode("-o -c"), Mode::CountMatches);
    assert_eq!(mode("-v --count-matches"), Mode::Count);
    assert_eq!(mode("--count-matches"), Mode::CountMatches);
    assert!(grep("--json").stats && !grep("-c").stats && grep("-q --stats").stats);
}

#[test]
fn listing_files_and_types_needs_no_pattern() {
    assert_eq!(parse("x").job(), Job::Search);
    assert_eq!(parse("-l --files").job(), Job::Files);
    // If several flags choose the kind of search, the last one counts; --files is one of them.
    for way in ["-l", "-c", "--json", "--format json"] {
        assert_eq!(parse(&format!("--files {way}")).job(), Job::Search, "{way}");
    }
    assert_eq!(parse("--files --format text").job(), Job::Files);
    assert_eq!(parse("--type-list --files").job(), Job::Files);
    assert_eq!(parse("--files --type-list").job(), Job::TypeList);
    let arguments = parse("--files /tmp /");
    let paths = arguments.paths().expect("paths");
    assert_eq!(paths.paths, [Path::new("/tmp"), Path::new("/")]);
    assert!(arguments.grep(&paths, false).expect("options").pattern.patterns.is_empty());
    assert!(arguments.types().is_ok_and(|types| types.definitions().len() > 100));
}

#[test]
fn a_terminal_gets_headings_and_line_numbers() {
    let options = grep("");
    assert!(options.heading && options.line_number && !options.column);
    let input = options_with("", true, &["-"]);
    assert!(!input.line_number && !input.with_filename);
    assert!(!options_with("", false, &["/"]).line_number);
    assert!(!grep("-N --no-heading").line_number && !grep("--no-heading").heading);
    assert!(
        !grep("-c").line_number
            && !grep("-q").line_number
            && options_with("--json", false, &["/"]).line_number
    );
}

#[test]
fn some_flags_imply_others() {
    let options = options_with("--vimgrep", false, &["-"]);
    assert!(options.vimgrep && options.column && options.line_number && options.with_filename);
    assert!(!options_with("--vimgrep --heading", true, &["/"]).heading);
    let options = options_with("--column", false, &["-"]);
    assert!(options.column && options.line_number);
    assert!(!options_with("--column -N", false, &["-"]).line_number);
    let options = options_with("-p", false, &["-"]);
    assert!(options.heading && options.line_number && options.colors.is_some());
}

#[test]
fn pretty_overrides_earlier_flags_only() {
    let options = options_with("-p --no-heading -N --color=never", false, &["/"]);
    assert!(!options.heading && !options.line_number && options.colors.is_none());
    let options = options_with("--no-heading -N --nocolor -p", false, &["/"]);
    assert!(options.heading && options.line_number && options.colors.is_some());
    assert!(parse("x --color=ansi").color() == When::Always && parse("x").color() == When::Auto);
    assert!(parse("x --color=always --nocolor").color() == When::Never);
}

#[test]
fn a_single_file_is_printed_without_its_path() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let path = file.path().to_str().expect("UTF-8");
    assert!(!options_with("", false, &[path]).with_filename);
    assert!(!options_with("", false, &["/no/such/file"]).with_filename);
    assert!(options_with("", false, &[path, path]).with_filename);
    assert!(options_with("", false, &["/"]).with_filename);
    assert!(options_with("-H", false, &[path]).with_filename);
}

#[test]
fn without_a_path_standard_input_or_the_directory_is_searched() {
    let input = Paths::new(Vec::new(), || true);
    assert_eq!(input, Paths { paths: vec![PathBuf::from("-")], implicit: true, one_file: true });
    let directory = Paths::new(Vec::new(), || false);
    assert_eq!(directory, Paths { paths: vec![PathBuf::from(".")], implicit: true, one_file: false });
    let files = parse("--files").paths().expect("paths");
    assert_eq!(files, directory);
    let patterns = parse("-f -").paths().expect("paths");
    assert_eq!(patterns, directory);
}

#[test]
fn patterns_come_from_flags_files_and_the_first_argument() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), "one\r\ntwo\n\nfour").expect("written");
    let line = format!("-e five -f {} -e two -e=-six", file.path().display());
    let arguments = parse(&format!("{line} path"));
    assert_eq!(arguments.paths().expect("paths").paths, [Path::new("path")]);
    assert_eq!(*grep(&line).pattern.patterns, ["five", "one", "two", "", "four", "two", "-six", "x"]);
    fs::write(file.path(), "").expect("written");
    let empty = parse(&format!("-f {}", file.path().display()));
    let paths = empty.paths().expect("paths");
    assert!(empty.grep(&paths, false).expect("options").pattern.patterns.is_empty());
    let words = try_parse(&["--", "-x", "-y"]).expect("parsed");
    assert_eq!(words.paths().expect("paths").paths, [Path::new("-y")]);
}

#[test]
fn values_may_begin_with_a_hyphen() {
    let words = ["-e", "-x", "-r", "-y", "--context-separator", "--", "-g", "-z", "--iglob", "-Z"];
    let arguments = try_parse(&words).expect("parsed");
    let options = arguments.grep(&Paths::new(Vec::new(), || false), false).expect("options");
    assert_eq!(*options.pattern.patterns, ["-x"]);
    assert_eq!(options.replace.as_deref(), Some(&b"-y"[..]));
    assert_eq!(options.context_separator.as_deref(), Some(&b"--"[..]));
    assert!(arguments.walk().is_ok_and(|walk| walk.globs.num_whitelists() == 2));
}

#[test]
fn separators_are_bytes() {
    let options = grep(r"--context-separator=\x1F --field-match-separator=\t --field-context-separator=");
    assert_eq!(options.context_separator.as_deref(), Some(&b"\x1F"[..]));
    assert_eq!(options.field_match_separator, b"\t");
    assert_eq!(options.field_context_separator, b"");
    assert_eq!(grep("--no-context-separator").context_separator, None);
    let again = grep("--no-context-separator --context-separator=+");
    assert_eq!(again.context_separator.as_deref(), Some(&b"+"[..]));
    assert_eq!(grep("--context-separator=+ --no-context-separator").context_separator, None);
    assert_eq!(grep(r"--path-separator=\\").path_separator, Some(b'\\'));
    assert_eq!(grep("--path-separator=+ --path-separator=").path_separator, None);
}

#[test]
fn numbers_and_sizes() {
    assert_eq!((grep("-M 0").max_columns, grep("-M80").max_columns), (None, Some(80)));
    assert_eq!(grep("-M80 --print-long-lines").max_columns, None);
    assert_eq!(grep("-m 0").max_count, Some(0));
    assert_eq!(walk("x --max-filesize 2K").max_filesize, Some(2048));
    // ag counts levels from 0.
    assert_eq!(walk("x --depth 3").max_depth, Some(4));
    assert_eq!(walk("x --max-depth 3").max_depth, Some(3));
    assert_eq!(grep("--regex-size-limit 1M").pattern.regex_size_limit, Some(1 << 20));
    assert_eq!(parse("x -j3").scan().width, Width::Fixed(3));
    assert_eq!(parse("x --workers=2 --width 4").scan().width, Width::Fixed(4));
    for auto in ["x", "x -j0", "x --width auto"] {
        assert_eq!(parse(auto).scan().width, Width::Auto);
    }
}

#[test]
fn files_are_sorted_by_the_last_key() {
    let sort = |line: &str| walk(&format!("x {line}")).sort;
    assert_eq!(sort("--sort modified"), Sort { by: SortKey::Modified, reverse: false });
    assert_eq!(sort("--sort modified --sortr size"), Sort { by: SortKey::Size, reverse: true });
    assert_eq!(sort("--sortr path --sort created"), Sort { by: SortKey::Created, reverse: false });
    assert_eq!(sort("--sortr accessed --sort-files"), Sort::default());
    assert_eq!((sort("--sortr none"), sort("--sortr path --no-sort-files")), Default::default());
}

#[test]
fn globs_and_types_select_files() {
    let walk = walk("x -g *.RS --iglob *.PY --ignore=gen --ignore-dir out -t rust -T py");
    let matched = |path| walk.globs.matched(path, false);
    assert!(matched("a.RS").is_whitelist() && matched("a.rs").is_ignore() && matched("a.py").is_whitelist());
    assert!(matched("gen").is_ignore() && matched("x/out").is_ignore());
    assert!(
        walk.types.matched("a.rs", false).is_whitelist() && walk.types.matched("a.py", false).is_ignore()
    );
    assert!(self::walk("x -g *.RS --glob-case-insensitive").globs.matched("a.rs", false).is_whitelist());
}

#[test]
fn type_flags_apply_in_order() {
    let typed = |line: &str| walk(&format!("x {line}")).types;
    let changed = typed("--type-clear rust --type-add rust:*.zz -t rust");
    assert!(changed.matched("a.zz", false).is_whitelist() && changed.matched("a.rs", false).is_ignore());
    assert!(
        usage_error("x --type-add rust:*.zz --type-clear rust -t rust").contains("unknown file type 'rust'")
    );
    assert!(typed("-t rust -T rust").matched("a.rs", false).is_ignore());
}

#[test]
fn a_regex_selects_paths() {
    let regex = walk(r"x -G \.rs$").file_regex.expect("a regular expression");
    assert!(regex.is_match("src/a.rs") && !regex.is_match("src/a.rs~"));
}

#[test]
fn encodings_are_known_by_name() {
    let inputs = |line| parse(line).inputs(Paths::new(Vec::new(), || false)).expect("inputs");
    assert_eq!(inputs("x").encoding, Encoding::Auto);
    assert_eq!(inputs("x -E none").encoding, Encoding::None);
    assert_eq!(inputs("x -E none --no-encoding").encoding, Encoding::Auto);
    assert!(matches!(inputs("x -E utf-16le").encoding, Encoding::Label(named) if named.name() == "UTF-16LE"));
    assert!(inputs("x -z").decompress && !inputs("x -z --no-search-zip").decompress);
}

#[test]
fn hyperlinks_need_colours() {
    assert!(grep("--hyperlink-format file --color=always").hyperlink.is_some());
    assert!(grep("--hyperlink-format file --color=never").hyperlink.is_none());
    assert!(grep("--hyperlink-format none --color=always").hyperlink.is_none());
}

#[test]
fn flags_of_ag_have_the_meaning_of_ag() {
    assert!(grep("--nogroup --group").heading && !grep("--noheading").heading);
    assert!(grep("--numbers").line_number && !grep("--nonumbers").line_number);
    assert!(!grep("--nofilename").with_filename && grep("--print0").null_after_path);
    let options = grep("--stats-only");
    assert!(options.quiet && options.stats);
    assert_eq!(grep("--all-types").binary, Binary::Suppress);
    assert_eq!(walk("x --all-types").rules, RuleFiles::NONE);
    assert_eq!(walk("x --all-text").rules, RuleFiles::NONE);
    assert_eq!(walk("x --path-to-ignore a").rule_files, [Path::new("a")]);
    assert!(!parse("x --silent").messages() && parse("x --silent --messages").messages());
    assert_eq!(grep("--before 2 --after=3").after_context, 3);
}

#[test]
fn flags_without_an_effect_are_accepted() {
    let line = "x --line-buffered --block-buffered --no-ignore-messages --break --parallel";
    assert!(!parse(line).running.no_config && parse("x --no-config").running.no_config);
}

#[test]
fn files_are_mapped_as_the_last_flag_says() {
    let mapping = |line| parse(line).scan().mapping;
    assert_eq!(mapping("x"), Mapping::Auto);
    assert_eq!(mapping("x --no-mmap --mmap"), Mapping::Always);
    assert_eq!(mapping("x --mmap --mmap --no-mmap"), Mapping::Never);
}

#[test]
fn unknown_flags_get_a_hint() {
    assert!(parse_error(&["--python", "x"]).contains("-t python"));
    assert!(parse_error(&["--cc", "x"]).contains("-t c'"));
    assert!(parse_error(&["-D", "x"]).contains("--profile"));
    assert!(parse_error(&["--print-all-files", "x"]).contains("--files prints"));
    assert!(parse_error(&["--fixed-string", "x"]).contains("--fixed-strings"));
}

#[test]
fn errors_name_the_invalid_value_and_the_reason() {
    assert!(parse_error(&["-A", "-1", "x"]).contains("a number of at least 0"));
    assert!(parse_error(&["--colors", "match:fg:redd"]).contains("redd"));
    assert!(parse_error(&["-G", "("]).contains("unclosed group"));
    assert!(parse_error(&["-j", "9999"]).contains("from 1 to 1024"));
    assert_eq!(usage_error("x -t nope"), "unknown file type 'nope'; 'comb grep --type-list' lists all types");
    assert!(usage_error("x -g [a").starts_with("--glob '[a': unclosed character class"));
    assert!(usage_error("x --type-add nope").starts_with("--type-add 'nope': expected NAME:GLOB"));
    assert!(usage_error("-f /no/such/file").starts_with("/no/such/file: "));
    assert!(usage_error("-f - -").contains("standard input"));
    assert!(usage_error("-i").starts_with("missing PATTERN"));
}

#[test]
fn patterns_are_utf8() {
    let wrong = OsString::from(std::ffi::OsStr::from_bytes(b"a\xFF"));
    let whole = GrepCommand::try_parse_from([OsString::from("grep"), wrong.clone()]).expect("parsed");
    let paths = Paths::new(Vec::new(), || false);
    let error = whole.arguments.grep(&paths, false).expect_err("an error");
    assert!(error.0.contains("is not valid UTF-8"));
    let Err(error) = GrepCommand::try_parse_from([OsString::from("grep"), "-e".into(), wrong]) else {
        panic!("it is accepted")
    };
    assert_eq!(error.kind(), ErrorKind::InvalidUtf8);
    assert!(hints::add_hint(error).to_string().contains(r"\xFF"));
}
