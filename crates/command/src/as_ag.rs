//! The command line of ag (The Silver Searcher), translated to that of `comb grep`.
//!
//! ag reads its arguments as `getopt_long` does: flags and other arguments in any order, long flags by any unambiguous beginning.
//! `docs/ag.md` lists the differences that remain.

mod flags;
mod pattern;
mod types;

use std::borrow::Cow;
use std::ffi::OsString;
use std::iter::Peekable;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::slice;

use clap::Error;
use clap::error::ErrorKind;

use self::flags::{Becomes, Flag};
use crate::args::parse_from;
use crate::exit::Exit;
use crate::grep::args::paths::input_is_readable;

const HELP: &str = include_str!("as_ag/help.txt");

/// Colours in which ag differs from ripgrep.
const COLORS: &[&str] = &[
    "path:none",
    "path:fg:green",
    "path:style:bold",
    "line:none",
    "line:fg:yellow",
    "line:style:bold",
    "match:none",
    "match:fg:black",
    "match:bg:yellow",
];

/// Arguments that are still to be read.
type Rest<'a> = Peekable<slice::Iter<'a, OsString>>;

/// Case sensitivity of patterns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Case {
    #[default]
    Smart,
    Sensitive,
    Ignored,
}

/// Arguments read so far.
#[derive(Debug, Default)]
struct Translation {
    /// Flags of `comb grep`.
    flags: Vec<OsString>,
    /// Arguments that are not flags: a pattern and paths.
    others: Vec<OsString>,
    types: Vec<&'static str>,
    colors: Vec<String>,
    case: Case,
    literal: bool,
    words: bool,
    hidden: bool,
    no_recurse: bool,
    single_lines: bool,
    ackmate: bool,
    passthru: bool,
    parallel: bool,
    line_numbers: Option<bool>,
    lists_matching: bool,
    filename_pattern: Option<String>,
    file_search_regex: Option<String>,
    /// A text to print in place of a search.
    text: Option<String>,
}

/// Parses the command line.
pub(crate) fn parse(given: &[OsString]) -> Result<crate::args::CommandLine, Error> {
    let mut translation = Translation::default();
    translation.read(&given[1.min(given.len())..]).map_err(Fault::into_error)?;
    if let Some(text) = translation.text {
        let command = crate::args::Command::Print(text.into_bytes(), Exit::Found);
        return Ok(crate::args::CommandLine { command, common: crate::args::Common::default() });
    }
    let translated = translation.finish().map_err(Fault::into_error)?;
    let all: Vec<OsString> = ["ag", "grep"].map(OsString::from).into_iter().chain(translated).collect();
    parse_from(&all)
}

/// A fault in the arguments.
#[derive(Debug)]
enum Fault {
    /// An unknown flag, a value that is missing, or one that is not wanted.
    Usage(String),
    /// An invalid value.
    Value(String),
}

impl Fault {
    fn into_error(self) -> Error {
        let (kind, reason) = match self {
            Self::Usage(reason) => (ErrorKind::UnknownArgument, reason),
            Self::Value(reason) => (ErrorKind::InvalidValue, reason),
        };
        Error::raw(kind, format!("{reason}\n"))
    }
}

impl Translation {
    fn read(&mut self, given: &[OsString]) -> Result<(), Fault> {
        let mut rest = given.iter().peekable();
        while let Some(argument) = rest.next() {
            match argument.as_bytes() {
                b"--" => self.others.extend(rest.by_ref().cloned()),
                [b'-', b'-', name @ ..] => self.long(name, &mut rest)?,
                [b'-', letters @ ..] if !letters.is_empty() => self.letters(letters, &mut rest)?,
                _ => self.others.push(argument.clone()),
            }
        }
        Ok(())
    }

    fn long<'a>(&mut self, name: &[u8], rest: &mut Rest<'a>) -> Result<(), Fault> {
        let (name, value) = match name.iter().position(|&byte| byte == b'=') {
            Some(at) => (&name[..at], Some(OsString::from_vec(name[at + 1..].to_vec()))),
            None => (name, None),
        };
        let name = String::from_utf8_lossy(name);
        let unwanted = |value: &OsString| {
            Err(Fault::Usage(format!("--{name} takes no value, found '{}'", value.display())))
        };
        if let Some(kind) = types::named(&name) {
            self.types.push(kind);
            return value.as_ref().map_or(Ok(()), unwanted);
        }
        let flag = flags::by_long(&name).ok_or_else(|| unknown(&format!("--{name}")))?;
        match &value {
            Some(value) if !flag.takes_value() => unwanted(value),
            _ => self.take(flag, value, rest),
        }
    }

    /// Reads the flags of one argument with a single hyphen; what follows a flag that takes a value is the value.
    fn letters<'a>(&mut self, letters: &[u8], rest: &mut Rest<'a>) -> Result<(), Fault> {
        for (at, &letter) in letters.iter().enumerate() {
            let letter = char::from(letter);
            let flag = flags::by_short(letter).ok_or_else(|| unknown(&format!("-{letter}")))?;
            let after = &letters[at + 1..];
            if flag.takes_value() && !after.is_empty() {
                return self.take(flag, Some(OsString::from_vec(after.to_vec())), rest);
            }
            self.take(flag, None, rest)?;
        }
        Ok(())
    }

    /// Applies a flag.
    fn take<'a>(&mut self, flag: &Flag, value: Option<OsString>, rest: &mut Rest<'a>) -> Result<(), Fault> {
        let mut required = || {
            let value = value.clone().or_else(|| rest.next().cloned());
            value.ok_or_else(|| Fault::Usage(format!("--{} requires a value", flag.long)))
        };
        match flag.becomes {
            Becomes::Flags(flags) => self.flags.extend(flags.iter().map(OsString::from)),
            Becomes::Value(name) => {
                let mut argument = OsString::from(format!("{name}="));
                argument.push(required()?);
                self.flags.push(argument);
            }
            Becomes::Lines(name) => {
                let invalid = |value: &OsString| {
                    let reason = format!("expected a number, found '{}'", value.display());
                    Fault::Value(format!("--{}: {reason}", flag.long))
                };
                let count = match &value {
                    // ag never ends if this is not a number.
                    Some(value) => lines(value).ok_or_else(|| invalid(value))?,
                    None => rest.next_if(|next| lines(next).is_some()).and_then(lines).unwrap_or(2),
                };
                self.flags.push(format!("{name}={count}").into());
            }
            Becomes::Set(set) => set(self),
            Becomes::Missing(instead) => {
                return Err(Fault::Usage(format!("--{} is not supported; {instead}", flag.long)));
            }
            Becomes::SetValue(set) => {
                let value = required()?;
                let text = value.to_str().ok_or_else(|| "not valid UTF-8".to_owned());
                let set = text.and_then(|text| set(self, text));
                set.map_err(|reason| Fault::Value(format!("--{}: {reason}", flag.long)))?;
            }
        }
        Ok(())
    }

    fn set_unrestricted(&mut self) {
        self.hidden = true;
        self.flags.extend(["--no-ignore", "--binary"].map(OsString::from));
    }

    fn set_parallel(&mut self) {
        self.parallel = true;
        self.flags.push("--parallel".into());
    }

    fn set_max_count(&mut self, value: &str) -> Result<(), String> {
        let count: u64 = value.parse().map_err(|_| format!("expected a number, found '{value}'"))?;
        // ag never stops at 0.
        self.flags.extend((count > 0).then(|| format!("--max-count={count}").into()));
        Ok(())
    }

    fn set_width(&mut self, value: &str) -> Result<(), String> {
        self.flags.extend([format!("--max-columns={value}").into(), "--max-columns-preview".into()]);
        Ok(())
    }

    /// The arguments of `comb grep`.
    fn finish(mut self) -> Result<Vec<OsString>, Fault> {
        let mut flags = std::mem::take(&mut self.flags);
        let mut push = |flag: &str| flags.push(flag.into());
        self.select_files(&mut push);
        let colors = COLORS.iter().copied().chain(self.colors.iter().map(String::as_str));
        colors.for_each(|color| push(&format!("--colors={color}")));
        if let Some(pattern) = &self.filename_pattern {
            push("--files");
            push(&format!("--file-search-regex={}", self.path_regex(pattern)));
        } else if !self.others.is_empty() {
            let pattern = self.others.remove(0).into_string();
            let pattern = pattern.map_err(|_| Fault::Value("the pattern is not valid UTF-8".to_owned()))?;
            let reads_input = self.others.is_empty() && !self.parallel && input_is_readable();
            self.search(&pattern, reads_input, &mut push);
        } else {
            return Err(Fault::Usage(format!("missing PATTERN\n\n{HELP}")));
        }
        flags.push("--".into());
        flags.append(&mut self.others);
        Ok(flags)
    }

    fn select_files(&self, push: &mut impl FnMut(&str)) {
        match self.hidden {
            true => push("--hidden"),
            // A type includes hidden files, unless a glob excludes them.
            false if !self.types.is_empty() => push("--glob=!.*"),
            false => {}
        }
        for &name in &self.types {
            let name_in_comb = format!("ag{name}");
            for extension in types::extensions(name) {
                push(&format!("--type-add={name_in_comb}:*.{extension}"));
            }
            push(&format!("--type={name_in_comb}"));
        }
        if self.no_recurse {
            // Takes precedence over all other limits.
            push("--depth=0");
        }
        if let Some(regex) = &self.file_search_regex {
            push(&format!("--file-search-regex={}", self.path_regex(regex)));
        }
    }

    /// A regular expression for paths, with the case sensitivity of patterns, and in words if these are.
    fn path_regex(&self, regex: &str) -> String {
        let case = if self.ignores_case(regex) { "(?i)" } else { "" };
        if self.words { format!("{case}{}", in_words(regex)) } else { format!("{case}{regex}") }
    }

    fn ignores_case(&self, pattern: &str) -> bool {
        match self.case {
            Case::Sensitive => false,
            Case::Ignored => true,
            // Also in escapes such as \W.
            Case::Smart => !pattern.contains(|char: char| char.is_ascii_uppercase()),
        }
    }

    fn search(&self, pattern: &str, reads_input: bool, push: &mut impl FnMut(&str)) {
        if pattern.is_empty() && self.lists_matching {
            return push("--files");
        }
        if self.lists_matching {
            push("--files-with-matches");
        }
        if self.ackmate {
            push("--ackmate");
        } else if self.line_numbers.unwrap_or(!reads_input) {
            push("--line-number");
        } else {
            push("--no-line-number");
        }
        if self.passthru && reads_input {
            push("--passthru");
        }
        if self.ignores_case(pattern) {
            push("--ignore-case");
        }
        let is_literal = self.literal || pattern::is_literal(pattern);
        push(if is_literal { "--fixed-strings" } else { "--pcre2" });
        let pattern = match self.words {
            true if is_literal => {
                push("--word-regexp");
                Cow::Borrowed(pattern)
            }
            true => Cow::Owned(in_words(pattern)),
            false => Cow::Borrowed(pattern),
        };
        if !self.single_lines && !self.ackmate && pattern::may_span_lines(&pattern, self.literal) {
            push("--multiline");
        }
        push(&format!("--regexp={pattern}"));
    }
}

impl Flag {
    fn takes_value(&self) -> bool {
        matches!(self.becomes, Becomes::Value(_) | Becomes::Lines(_) | Becomes::SetValue(_))
    }
}

/// An expression that matches whole words as ag has it, which differs from --word-regexp if a match begins or ends with another
/// character.
fn in_words(regex: &str) -> String {
    format!(r"\b(?:{regex})\b")
}

fn unknown(flag: &str) -> Fault {
    Fault::Usage(format!("unrecognized option '{flag}'\n\n{HELP}"))
}

/// The value of a flag as a number of lines. A negative one stands for none.
fn lines(value: &OsString) -> Option<u32> {
    let number: i64 = value.to_str()?.parse().ok()?;
    Some(number.clamp(0, u32::MAX.into()) as u32)
}

/// The colours of a part of the output by codes of ANSI escapes, such as `1;33`.
fn color(part: &str, codes: &str) -> Result<Vec<String>, String> {
    const NAMES: [&str; 8] = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
    let mut specs = vec![format!("{part}:none")];
    let mut codes = codes.split(';').map(|code| code.parse::<u8>());
    while let Some(code) = codes.next() {
        let code = code.map_err(|_| "expected codes of ANSI escapes, such as 1;33".to_owned())?;
        match code {
            0 => {}
            1 => specs.push(format!("{part}:style:bold")),
            3 => specs.push(format!("{part}:style:italic")),
            4 => specs.push(format!("{part}:style:underline")),
            30..=37 => specs.push(format!("{part}:fg:{}", NAMES[usize::from(code - 30)])),
            40..=47 => specs.push(format!("{part}:bg:{}", NAMES[usize::from(code - 40)])),
            90..=97 => {
                specs.push(format!("{part}:style:intense"));
                specs.push(format!("{part}:fg:{}", NAMES[usize::from(code - 90)]));
            }
            38 | 48 => {
                let ground = if code == 38 { "fg" } else { "bg" };
                match (codes.next(), codes.next()) {
                    (Some(Ok(5)), Some(Ok(number))) => specs.push(format!("{part}:{ground}:{number}")),
                    _ => return Err(format!("{code} must be followed by 5 and a number")),
                }
            }
            _ => return Err(format!("unsupported code {code}")),
        }
    }
    Ok(specs)
}
